"""A system of one's own, for tests of what all systems have."""

import numpy as np

import closedform as cf


class Oscillator(cf.System):
    """ẍ = u − x."""

    name, state_names, input_names = "oscillator", ("x", "rate of x"), ("force",)

    def __init__(self, loud=False):
        self.loud = loud

    def start(self, state):
        return np.array([0.0, 1.0] if state is None else state)

    def state(self, y):
        return y[..., :2]

    def rate(self, y, u):
        return np.array([y[1], u[0] - y[0], u[0] * y[1]])

    def observed(self, y, u):
        return {"kinetic": y[:, 1]**2 / 2, "potential": y[:, 0]**2 / 2, "turn": y[:, 0] + 0j}

    def remarks(self, run):
        return [f"{self.name} is loud"] if self.loud else []
