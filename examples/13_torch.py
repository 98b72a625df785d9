"""What does the hand carry? A load found by gradients through forward dynamics, in PyTorch.

    python examples/13_torch.py 1024         the number of states
"""

import sys
from collections.abc import Callable

import torch

import closedform as cf

TRUTH = torch.tensor([1.7, 0.02, -0.01, 0.06], dtype=torch.float64)     # kg, and the centre in m
Data = tuple[torch.Tensor, ...]
Dynamics = Callable[..., torch.Tensor]
"""(q, v, tau, payload) -> a, for a batch of states."""


def load(x: torch.Tensor) -> torch.Tensor:
    """The ten inertial parameters of a ball of 6 cm: m, m c, and the tensor about the hand."""
    m, c, one = x[0], x[1:], torch.eye(3, dtype=x.dtype)
    I = m * (0.4 * 0.06**2 * one + (c @ c) * one - torch.outer(c, c))
    return torch.stack([m, *(m * c), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])


def measured(dynamics: Dynamics, count: int) -> Data:
    """States, torques, and the accelerations that they made."""
    torch.manual_seed(0)
    q, v, tau = (torch.randn(count, 7, dtype=torch.float64) * s for s in (1.0, 1.0, 10.0))
    return q, v, tau, dynamics(q, v, tau, load(TRUTH))


def found(dynamics: Dynamics, data: Data, steps: int = 8) -> torch.Tensor:
    """Mass and centre by Gauss-Newton from 0.5 kg at the hand: x − (JᵀJ)⁻¹ Jᵀ r."""
    q, v, tau, a = data
    x = torch.tensor([0.5, 0.0, 0.0, 0.0], dtype=torch.float64)

    def residual(x: torch.Tensor) -> torch.Tensor:
        return (dynamics(q, v, tau, load(x)) - a).flatten()

    for _ in range(steps):
        x = x - torch.linalg.lstsq(torch.func.jacfwd(residual)(x), residual(x)[:, None])[0][:, 0]
    return x


def gradient(dynamics: Dynamics, data: Data, x: torch.Tensor) -> torch.Tensor:
    """That of the mean square error, as an optimiser asks for it."""
    x = x.clone().requires_grad_()
    (dynamics(*data[:3], load(x)) - data[3]).square().mean().backward()
    assert x.grad is not None
    return x.grad


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 32
    robot = cf.load("panda")
    arm = cf.compile(robot, inputs=cf.PayloadAt(robot.bodies[-1].name))
    dynamics = arm.forward_dynamics.torch()
    data = measured(dynamics, count)
    x = found(dynamics, data)
    print(f"{count} states: {x[0]:.6f} kg at {[round(float(c), 6) for c in x[1:]]} m; "
          f"the gradient there is {gradient(dynamics, data, x).norm():.1e}")
    assert torch.allclose(x, TRUTH, atol=1e-6)
