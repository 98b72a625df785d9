"""The recursive Newton-Euler algorithm in PyTorch, as one writes it by hand: batched 3-vectors."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, linalg

import closedform as cf

cross = linalg.cross


class Recursion:
    """Dynamics of a chain of revolute joints for any batch of states; autograd does the rest."""

    def __init__(self, robot: cf.Robot, dtype: torch.dtype = torch.float64) -> None:
        def tensor(x: object) -> Tensor:
            return torch.tensor(np.array(x, dtype=float), dtype=dtype)

        bodies = robot.bodies
        assert all(isinstance(b.joint, cf.Revolute) for b in bodies)
        poses = [tensor(b.placement) for b in bodies]
        self.placements = [(T[:3, :3], T[:3, 3]) for T in poses]
        self.axes = [tensor(b.joint.axis) for b in bodies]
        skew = [cross(torch.eye(3, dtype=dtype), u.expand(3, 3)) for u in self.axes]
        self.turns = [(K, K @ K) for K in skew]
        self.parameters = [tensor(b.inertia.array) for b in bodies]
        self.gravity, self.one = tensor(robot.gravity), torch.eye(3, dtype=dtype)

    def inverse_dynamics(self, q: Tensor, v: Tensor, a: Tensor,
                         payload: Tensor | None = None) -> Tensor:
        """τ, (..., n)."""
        zero = torch.zeros_like(q[..., :3])
        w, dw, dv = zero, zero, zero - self.gravity
        down, forces = [], []
        for i, ((R_0, p), axis, (K, KK)) in enumerate(zip(
                self.placements, self.axes, self.turns, strict=True)):
            s, c = torch.sin(q[..., i, None, None]), torch.cos(q[..., i, None, None])
            R = R_0 @ (self.one + s * K + (1 - c) * KK)
            there = p.expand(w.shape)
            dv = _back(R, dv + cross(dw, there) + cross(w, cross(w, there)))
            w_p = _back(R, w)
            rate = axis * v[..., i, None]
            dw = _back(R, dw) + axis * a[..., i, None] + cross(w_p, rate)
            w = w_p + rate
            pi = self.parameters[i]
            pi = pi if payload is None or i < len(self.axes) - 1 else pi + payload
            m, mc, I = pi[0], pi[1:4].expand(w.shape), _tensor(pi)
            f = m * dv + cross(dw, mc) + cross(w, cross(w, mc))
            n = dw @ I + cross(w, w @ I) + cross(mc, dv)
            down.append((R, there, axis))
            forces.append((f, n))
        f, n, tau = zero, zero, []
        for (R, there, axis), (f_i, n_i) in zip(reversed(down), reversed(forces), strict=True):
            f, n = f_i + f, n_i + n
            tau.append((n * axis).sum(-1))
            f = (R @ f[..., None])[..., 0]
            n = (R @ n[..., None])[..., 0] + cross(there, f)
        return torch.stack(tau[::-1], -1)

    def forward_dynamics(self, q: Tensor, v: Tensor, tau: Tensor,
                         payload: Tensor | None = None) -> Tensor:
        """a from M a = τ − b, with b and the columns of M by one batch of inverse dynamics."""
        n = q.shape[-1]
        a = torch.cat([torch.zeros(1, n), torch.eye(n)]).to(q)
        a = a.reshape(n + 1, *(1,) * (q.dim() - 1), n).expand(n + 1, *q.shape)
        found = self.inverse_dynamics(q.expand(a.shape), v.expand(a.shape), a, payload)
        M = (found[1:] - found[0]).movedim(0, -1)
        return torch.linalg.solve(M, tau - found[0])


def _back(R: Tensor, x: Tensor) -> Tensor:
    """Rᵀ x."""
    return (x[..., None, :] @ R)[..., 0, :]


def _tensor(pi: Tensor) -> Tensor:
    Ixx, Ixy, Iyy, Ixz, Iyz, Izz = pi[4:]
    return torch.stack([Ixx, Ixy, Ixz, Ixy, Iyy, Iyz, Ixz, Iyz, Izz]).reshape(3, 3)
