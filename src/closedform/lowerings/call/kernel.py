"""A compiled program, called from Python like any function of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from closedform.errors import ArgumentError
from closedform.lowerings.call.code import (
    Code,
    Fold,
    Judge,
    Layout,
    Native,
    Watch,
    trusted,
    unfoldable,
    unwatched,
)
from closedform.lowerings.call.derived import Derivative, How
from closedform.lowerings.call.signature import Interface, Subject
from closedform.lowerings.call.slow import Recipe, SlowPath, recalled
from closedform.lowerings.call.vectorcall import addresses, set_vectorcall, vectorcall_type, works
from closedform.lowerings.cuda.calls.launches import Launchable, kind_of
from closedform.lowerings.cuda.kernel import CudaKernel
from closedform.lowerings.frameworks.casadi_operator import (
    Making,
    casadi_operator,
    checked_nodes,
)
from closedform.lowerings.native.ir import Kind
from closedform.lowerings.store.cache import Cache
from closedform.lowerings.to_casadi import casadi_function
from closedform.program.lanes.sharing import SharedLanes
from closedform.program.program import FoldedCount, Operations, Program
from closedform.program.show import listing
from closedform.program.sweeps import Sweeps

if TYPE_CHECKING:
    from closedform.lowerings.to_sympy import Expressions

ANY = Subject()


class JacobianOf(Protocol):
    """Jacobians and products with them that are known otherwise; None where there is none."""

    def __call__(self, wrt: tuple[str, ...], /) -> Kernel | None:
        """The kernel of ∂y/∂x for inputs x, in their order."""

    def program(self, meant: Derivative, /) -> Program | None:
        """A program of a tangent or a cotangent, with inputs in any order."""


class _Doc:
    """The documentation of a kernel, and of its class where there is no kernel."""

    def __init__(self, of_class: str) -> None:
        self.of_class = of_class

    def __get__(self, kernel: Kernel | None, owner: type) -> str:
        return self.of_class if kernel is None else _documentation(kernel.interface)


class Kernel:
    __slots__ = ("_code", "_derived", "_jacobian", "_kernel", "_operators", "_path")

    __doc__ = _Doc(
        """A function of arrays in machine code: one state, or a batch of states along leading axes.

        Arguments go by position or name. One state in contiguous float64 arrays goes straight to
        the code (docs/benchmarks.md); anything else that NumPy can read is taken too. A result
        depends on nothing but the arguments, and several threads may use a kernel at once.
        """)

    def __init__(self, code: Code, of: Subject = ANY) -> None:
        self._code = code
        self._path = SlowPath(code, of)
        self._derived: dict[Derivative, Kernel] = {}
        self._jacobian: JacobianOf | None = None
        self._operators: dict[object, Any] = {}
        self._path.compile = compile_program
        if works():
            own = {"slow": id(self._path), "result": id(self._path.result)}
            code.own = addresses() | own
        self._kernel = code.native("kernel", "double")
        if type(self) is not Kernel:
            set_vectorcall(self, self._kernel.code.address("call"))

    @staticmethod
    def load(key: str, build: Callable[[], Program], cache: Cache | None = None,
             watch: Watch = unwatched, of: Subject = ANY, judge: Judge = trusted,
             loops: Callable[[], Sweeps] | None = None, fold: Fold = unfoldable) -> Kernel:
        """The kernel kept under a key, which has to name all that the program depends on.

        `build` makes the program, and is called only if there is no such kernel yet. The code of
        this package need not be part of the key. `watch` is entered while code is compiled; `of`
        is for messages and formulas; `judge` sees new code before it is kept; `loops` are compiled
        in place of the program where there are some, and what `fold` makes for single states.
        """
        code = Code(f"key {key}", cache or Cache.default(), build, watch=watch, judge=judge,
                    loops=loops, fold=fold)
        return _made(code, of)

    def with_variant(self, name: str, kernel: Callable[[], Kernel], at: int) -> Kernel:
        """This kernel, which leaves calls with one more argument of that name to another one.

        There it is the input `at`.
        """
        self._path.variant, self._path.variant_at = (name, kernel), at
        return self

    def with_rows(self, name: str, kernel: Callable[[int], Kernel]) -> Kernel:
        """This kernel, which leaves calls whose argument has other rows to another for so many."""
        self._path.rows = name, kernel
        return self

    def with_jacobian(self, kernel: JacobianOf) -> Kernel:
        """This kernel, whose derivatives others may compute with fewer operations."""
        self._jacobian = kernel
        return self

    def with_recipe(self, make: Callable[..., Kernel], *arguments: Any) -> Kernel:
        """This kernel, which is pickled as a call that makes it or finds it in a cache."""
        self._path.recipe = make, arguments
        return self

    def other(self, *steps: str) -> Kernel:
        """The kernel that calls with other arguments go to: `with:wrenches`, `rows:5`."""
        kernel: Kernel = self._path.other(steps)
        return kernel

    # ------------------------------------------------------------------ derivatives
    def tangent(self, *wrt: str) -> Kernel:
        """(x, ẋ) → ẏ = Σ (∂y/∂x) ẋ, linear in the tangents of the inputs named, or of all.

        They come as further inputs, `q_dot` for `q`. Entries of q are independent here: of a
        quaternion as well.
        """
        return self._derivative("tangent", wrt)

    def cotangent(self, *wrt: str, linear: bool = False) -> Kernel:
        """(x, ȳ) → x̄ = Σ (∂y/∂x)ᵀ ȳ for the inputs named, or all: a gradient in 2 to 3 values.

        The weights are further inputs, `inverse_dynamics_bar`. Of a kernel that is `linear` in the
        inputs named, these are no inputs of the result.
        """
        return self._derivative("transpose" if linear else "cotangent", wrt)

    def jacobian(self, *wrt: str) -> Kernel:
        """∂y/∂x for each output y, and for it each input x named, or all; the index of x is last.

        It is the catalogue's row of derivatives where there is one.
        """
        return self._derivative("jacobian", wrt)

    def jacobian_row(self, *wrt: str) -> Kernel | None:
        """The catalogue's row of derivatives by these inputs, None where there is none."""
        meant = Derivative.of("jacobian", wrt, self.interface)
        return self._jacobian(meant.wrt) if self._jacobian else None

    def _derivative(self, how: How, wrt: tuple[str, ...]) -> Kernel:
        meant = Derivative.of(how, wrt, self.interface)
        if meant not in self._derived:
            known = self.jacobian_row(*meant.wrt) if how == "jacobian" else None
            self._derived[meant] = known or self._made_derivative(meant)
        return self._derived[meant]

    def _made_derivative(self, meant: Derivative) -> Kernel:
        code = self._code
        known = None if self._jacobian is None else self._jacobian.program
        build, judge = meant.builder(lambda: self.program, known)
        made = Kernel.load(meant.key(self.interface.digest), build, code.cache, code.watch,
                           self._path.of, judge)
        return made.with_recipe(_derived, self, meant)

    @property
    def interface(self) -> Interface:
        """Names, shapes and counts."""
        return self._code.interface

    @property
    def name(self) -> str:
        return self.interface.name

    @property
    def signature(self) -> str:
        """Its axes behind those of the batch, as of NumPy's generalised functions: `(7),(7)->(7)`.

        A scalar is `()`. Dask and xarray map kernels over blocks by it.
        """
        return self._path.signature

    @property
    def operations(self) -> Operations:
        """How much is computed for a state; `folded`: by a single call, where that is not what
        batches do: limbs share lanes, or loops go along a chain."""
        if self.interface.folded is None:
            return self.interface.operations
        return FoldedCount.of(self.program.operations, self.interface.folded)

    @property
    def lanes(self) -> SharedLanes:
        """Which bodies share the instructions of a single call, or why none do."""
        return self.interface.lanes

    @property
    def program(self) -> Program:
        """What is computed."""
        return self._code.program

    @property
    def native(self) -> Native:
        """The function of one state in double precision."""
        return self._kernel

    @property
    def batch_native(self) -> Native:
        """The function of many states in double precision."""
        return self._code.native("batch", "double")

    def compiled(self, layout: Layout, kind: Kind) -> Native:
        """A function in machine code, compiled if it was not yet."""
        return self._code.native(layout, kind)

    # ------------------------------------------------------------------ the program, elsewhere
    def listing(self) -> str:
        """The program as text: a line for each value that is used more than once."""
        return listing(self.program)

    def sympy(self) -> Expressions:
        """The program as SymPy's expressions: inputs, terms in order, and outputs in these."""
        from closedform.lowerings.to_sympy import program_expressions  # slow: SymPy
        return program_expressions(self.program)

    def latex(self) -> str:
        """The program as a LaTeX document: its terms, then its outputs."""
        from closedform.lowerings.source.latex import latex_source  # slow: SymPy
        return latex_source(self.sympy(), [self._path.title], self._path.of.letters)

    def casadi(self, nodes: int | None = None, *, symbolic: bool = False, callback: bool = False,
               wrenches: bool = False) -> Any:
        """A `casadi.Function` with exact sparse Jacobian, adjoint and Hessian.

        Vectors are columns, and an array of more axes has those behind the first joined. With
        `nodes` they stand side by side, (n, nodes) for (n,): a whole horizon in one call, with
        block-diagonal derivatives. These are by the entries of q, of quaternions as well, which an
        optimiser has to keep at unit length: by a constraint, or by steps with `integrate`.

        It is an external function of this kernel's machine code on Linux; elsewhere, and with
        `callback`, it is called through Python. `symbolic` writes the program out in SX, for
        CasADi's own code generation. `wrenches` makes them a further input.
        """
        if wrenches:
            if self._path.variant is None:
                raise ArgumentError(f"{self._path.title} takes no wrenches")
            return self._path.variant[1]().casadi(nodes, symbolic=symbolic, callback=callback)
        if symbolic:
            function = casadi_function(self.program)
            return function if nodes is None else function.map(checked_nodes(self.name, nodes))
        key = "casadi", nodes, callback
        if key not in self._operators:
            making = Making(self._code.cache, self._code.watch)
            self._operators[key] = casadi_operator(self, making, nodes, callback)
        return self._operators[key]

    def jax(self) -> Callable[..., Any]:
        """The kernel as a function of JAX arrays: jit, grad, jacfwd, jacrev, hessian, vmap, scan.

        Arguments go by position or name, leading axes are a batch. All inputs are differentiable,
        also those given at run time, and q by its entries: of a quaternion as well, which has to
        be kept at length one by whoever steps it. Several outputs are a named tuple. float32 is
        computed in float32, as JAX users expect; `jax.config.update("jax_enable_x64", True)`.
        """
        if "jax" not in self._operators:
            from closedform.lowerings.frameworks.jax_operator import jax_operator  # slow: JAX
            self._operators["jax"] = jax_operator(self, self._path)
        operator: Callable[..., Any] = self._operators["jax"]
        return operator

    # ------------------------------------------------------------------ on GPUs
    @property
    def gpu(self) -> CudaKernel:
        """What launches the program on CUDA devices."""
        return self._path.gpu

    @property
    def ptx(self) -> str:
        """What runs on a GPU for rows of float64: the text of each kernel, one after the other."""
        plan = self.gpu.plan("double", tuple("rows" for _ in self.interface.inputs),
                             tuple("rows" for _ in self.interface.outputs))
        return "\n".join(self.gpu.ptx(plan))

    def cuda(self, dtype: Any = np.float64, layout: Literal["rows", "states"] = "rows",
             device: int = 0) -> Launchable:
        """What launches the kernels on addresses and a stream: for graphs and other languages.

        Arrays have states first ("rows") or last ("states"). CUDA arrays need none of this: the
        kernel takes them as it takes NumPy's.
        """
        kind = kind_of(dtype)
        if kind is None or layout not in ("rows", "states"):
            raise ArgumentError(f"dtype must be float64 or float32 and layout 'rows' or 'states', "
                                f"not {dtype!r} and {layout!r}")
        return self.gpu.launchable(kind, layout, device)

    def torch(self) -> Callable[..., Any]:
        """The kernel as a PyTorch operator: gradients of any order, torch.func, torch.compile.

        It takes tensors of float32 or of float64 on a CPU or a CUDA device, one state or a batch,
        by position or name, and returns a tensor, or a named tuple of several. Derivatives by q are
        by its entries: an optimiser over quaternions must normalise q in front or step by
        `robot.integrate`.
        """
        if "torch" not in self._operators:
            from closedform.lowerings.frameworks.torch_operator import Operator  # slow: PyTorch
            self._operators["torch"] = Operator(self, self._path)
        operator: Callable[..., Any] = self._operators["torch"]
        return operator

    # ------------------------------------------------------------------ calling
    def __call__(self, *args: Any, **named: Any) -> Any:
        """The outputs for a state or a batch; `out=` takes an array, or a tuple of several.

        `threads=` is how many may work on a batch. The kernel's own documentation names the inputs.
        """
        return self._path(*args, **named)

    def __repr__(self) -> str:
        return f"<kernel {self.name}({', '.join(s.name for s in self.interface.inputs)})>"

    @property
    def identity(self) -> str:
        """A name that kernels share which compute the same from all arguments: in any process."""
        return self._path.identity

    def __dask_tokenize__(self) -> str:
        return self._path.__dask_tokenize__()

    @property
    def recipe(self) -> Recipe:
        """What makes the kernel anew: a function and its arguments."""
        return self._path.made_by

    def __reduce__(self) -> tuple[Any, ...]:
        """The recipe of the kernel; a program that has none travels itself."""
        return recalled, (self._path.pickled,)


def _derived(kernel: Kernel, meant: Derivative) -> Kernel:
    return kernel._derivative(*meant)


def compile_program(program: Program, cache: Cache | None = None,
                    watch: Watch = unwatched, of: Subject = ANY) -> Kernel:
    """A kernel that computes what a program says.

    float32 and batch code are compiled when first used. `cache` is where compiled code is kept,
    `Cache(None)` for nowhere; by default `Cache.default()`. `watch` and `of`: as in `Kernel.load`.
    """
    key = f"program {program.digest}"
    return _made(Code(key, cache or Cache.default(), lambda: program, program, watch), of)


def _made(code: Code, of: Subject) -> Kernel:
    """A kernel, of the kind that Python calls directly where that works."""
    if not works():
        return Kernel(code, of)
    kind: Any = vectorcall_type(Kernel)
    kind.__doc__ = Kernel.__dict__["__doc__"]
    kernel: Kernel = kind(code, of)
    return kernel


def _documentation(interface: Interface) -> str:
    """What a kernel takes and returns."""
    inputs = ", ".join(slot.name for slot in interface.inputs)
    shapes = [f"    {slot.name} ({', '.join(('...', *map(str, slot.shape)))})"
              for slot in (*interface.inputs, *interface.outputs)]
    count = interface.folded or interface.operations
    lanes = ", each for several limbs" if interface.lanes else ""
    return "\n".join((
        f"{interface.name}({inputs}, out=None, threads=None)",
        "",
        f"Returns {', '.join(slot.name for slot in interface.outputs)}:",
        "",
        *shapes,
        "",
        f"{count.mul} multiplications, {count.add} additions, {count.trig} sines and cosines"
        f"{lanes}.",
    ))
