"""JAX on the CPU: conventional spatial algebra, jit(vmap) over a batch, one thread."""

from __future__ import annotations

import importlib
import os
import time
from typing import Any

import numpy as np
from building import MissingError
from clock import Job
from contenders_casadi import same_convention
from conventional import Scalars, inverse_dynamics, mass_matrix, prepared
from subjects import ARM, ID, MASS, STATES, Subject, Task

LABEL = "JAX"
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false "
                      "intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")


class Jax:
    """One robot in JAX; q, v, a are ours."""

    def __init__(self, subject: Subject) -> None:
        try:
            jax: Any = importlib.import_module("jax")
        except ImportError as error:
            raise MissingError(f"pip install jax ({error})") from None
        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.subject, self.robot = subject, prepared(subject.robot)
        self.convention = same_convention(subject.robot)

    def jobs(self, task: Task) -> list[Job]:
        jax, jnp, robot = self.jax, self.jax.numpy, self.robot
        if task.name not in ((ID, MASS) if self.subject.kind == ARM else (ID,)):
            return []
        of = Scalars(jnp.asarray, lambda rows: jnp.stack([jnp.stack(
            [jnp.asarray(x, dtype=jnp.float64) for x in row]) for row in rows]), jnp.sin, jnp.cos)

        def one(q: Any, v: Any, a: Any) -> Any:
            if task.name == MASS:
                return of.array(mass_matrix(robot, q, of))
            return jnp.stack(inverse_dynamics(robot, q, v, a, of))

        n = 4096 if self.subject.kind == ARM else 512
        given = self.subject.states(n)
        arrays = [jnp.asarray(given[name]) for name in ("q", "v", "a")]
        function = jax.jit(jax.vmap(one)).lower(*arrays).compile()

        def run(repeats: int) -> None:
            for _ in range(repeats):
                function(*arrays).block_until_ready()

        # XLA computes in threads of its own
        return [Job(LABEL, run, n, lambda: [np.asarray(function(*arrays))[:STATES]],
                    time.process_time)]
