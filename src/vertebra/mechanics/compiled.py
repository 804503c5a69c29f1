"""How kernels are compiled, and how batches of calls run on threads."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

from numba.core import types
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from vertebra.mechanics import lean
from vertebra.mechanics.kernel_cache import KernelCache, say
from vertebra.robot.arguments import positive_count

# numpy error model: x/0 is inf, not an exception, which keeps loops free of branches; kernels guard the places where it
# can happen. nogil: batches run on threads. No fastmath: the same inputs give the same bits. _nrt=False: kernels own no
# memory, so references need not be counted, which took half the time of a small robot; a kernel that allocates does
# not compile. no_cfunc_wrapper: nobody calls kernels from C.
_OPTIONS: dict[str, Any] = {
    "nopython": True, "boundscheck": None, "error_model": "numpy", "nogil": True, "_nrt": False,
    "no_cfunc_wrapper": True,
}  # fmt: skip

LEAN = lean.serves_this_numba() and not os.environ.get("VERTEBRA_PLAIN_NUMBA")
"""Whether entry points are compiled with their whole call tree at once, or each function on its own as numba does."""


class Kernel(CPUDispatcher):
    """A function that Python calls: compiled with all that it calls on first use, and kept on disk until the source of
    any kernel changes."""

    inner: Any = None
    _cache: Any

    @property
    def _numba_type_(self) -> Any:
        """Other kernels call the inner function, which becomes part of them."""
        return types.Dispatcher(self if self.inner is None else self.inner)

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.__module__, self.py_func.__name__)

    def compile(self, signature: Any) -> Any:
        with _compiling(self):
            return super().compile(signature)


class Inner(Kernel):
    """A function that only kernels call. A column number is an argument like any other: numba would compile the
    function once for each number that stands in a call."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)

    def __call__(self, *args: Any, **kws: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is for kernels alone; what Python calls is a @kernel")


def _named(module: str, name: str) -> Any:
    """A kernel in another process is the one of the same name."""
    return getattr(import_module(module), name)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function with numba on first use, and keep it on disk until any kernel file changes. Compiled code that
    calls it is a kernel too, or an `inner` function."""
    compiler = lean.EntryCompiler if LEAN else Compiler
    made = Kernel(function, targetoptions=dict(_OPTIONS), pipeline_class=compiler)
    made._cache = KernelCache(function, "lean" if LEAN else "plain")
    if LEAN:
        made.inner = inner(function)
    return made


def inner(function: Callable[..., Any], **options: Any) -> Any:
    """A function that only kernels call, and that is compiled as part of them."""
    options = _OPTIONS | {"no_cpython_wrapper": True} | options
    made = Inner(function, targetoptions=options, pipeline_class=lean.InnerCompiler if LEAN else Compiler)
    if not LEAN:
        made._cache = KernelCache(function, "plain")
    return made


def inlined(function: Callable[..., Any]) -> Any:
    """`inner` for a hot loop, whose callers have it inline."""
    return inner(function, forceinline=True)


# While a kernel is compiled.

PATIENCE = 0.5
"""After so many seconds a person is told what the wait is for."""
BAR_AFTER, BAR_WIDTH = 3.0, 24
LAST_STEP = 0.7
"""How far the bar goes with the last function: then the call tree is optimised as a whole."""

_quiet = False


def be_quiet() -> None:
    """For a worker whose parent process reports what is being done."""
    global _quiet
    _quiet = True


_waiting: list[_Wait] = []
"""The kernel that is compiled now; numba's lock lets in one at a time."""


class _Wait:
    """What a person is shown while a kernel is compiled: a line at the end, and at a terminal a bar on the way."""

    def __init__(self, root: Any) -> None:
        self.what = f"compiling {_group(root)} ({root.py_func.__name__}), once ..."
        self.left = _call_tree(root)
        self.count = len(self.left)
        self.since = time.monotonic()
        self.shown = False

    def step(self, function: Any) -> None:
        self.left.discard(function)
        seconds = time.monotonic() - self.since
        if seconds < PATIENCE or _quiet:
            return
        if not self.shown:
            say(self.what, end="")
            self.shown = True
        if seconds > BAR_AFTER and _at_terminal():
            filled = round(BAR_WIDTH * LAST_STEP * (1.0 - len(self.left) / self.count))
            say(f"\r{self.what} [{'#' * filled:{BAR_WIDTH}}] {seconds:.0f} s", end="")

    def end(self) -> None:
        if self.shown:
            seconds = time.monotonic() - self.since
            rewrite = seconds > BAR_AFTER and _at_terminal()
            say(f"\r{self.what} {seconds:.1f} s{' ' * (BAR_WIDTH + 3)}" if rewrite else f" {seconds:.1f} s")


@contextmanager
def _compiling(dispatcher: Any) -> Iterator[None]:
    """Around the compilation, or the loading, of one function."""
    with global_compiler_lock:
        if _waiting:
            yield
            _waiting[0].step(dispatcher.py_func)
            return
        collects = gc.isenabled()
        gc.disable()  # compiling makes much that stays, and a fifth of its time goes into looking through it
        _waiting.append(_Wait(dispatcher))
        try:
            with lean.remembered_typing():
                yield
        finally:
            _waiting.pop().end()
            if collects:
                gc.enable()


def _group(root: Any) -> str:
    """The question that a kernel serves, as people know it."""
    return _GROUPS.get(root.__module__.rpartition(".")[2], "kernels")


_GROUPS = {
    "joints": "kinematics", "spatial": "kinematics", "cables": "kinematics", "describe": "statics",
    "newton": "statics", "sweep": "statics", "lanes": "statics",
    "friction": "friction", "adjoint": "statics", "contact": "payload", "ball": "payload",
    "ball_gradient": "payload", "newton_euler": "dynamics", "articulated": "dynamics", "stepping": "simulation",
    "sensitivities": "simulation", "joint_balance": "tensions", "link_tensions": "tensions", "programmes": "tensions",
    "sensed_chain": "sensing", "sensor_intake": "sensing",
}  # fmt: skip


def _call_tree(root: Any) -> set[Any]:
    """The functions that a kernel calls, and those that they call; itself among them."""
    found, waiting = {root.py_func}, [root.py_func]
    while waiting:
        function = waiting.pop()
        called = (function.__globals__.get(name) for name in function.__code__.co_names)
        for each in called:
            if isinstance(each, CPUDispatcher) and each.py_func not in found:
                found.add(each.py_func)
                waiting.append(each.py_func)
    return found


def _at_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


# Batches on threads: kernels release the interpreter, so pieces of a batch run side by side.

Piece = TypeVar("Piece")


MOST_THREADS = 1024


def thread_count(threads: int | None) -> int:
    """As given, or one for each core that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return positive_count("threads", threads, MOST_THREADS)


def run_pieces(
    solve: Callable[[Piece], int],
    pieces: Sequence[Piece],
    threads: int,
    count: int,
    progress: Callable[[int, int], Any] | None,
) -> None:
    """Solve all pieces; each returns how many of `count` it did. An interrupt or a failing `progress` stops before
    the next piece."""
    done = 0
    if threads == 1 or len(pieces) <= 1:
        for piece in pieces:
            done += solve(piece)
            if progress is not None:
                progress(done, count)
        return
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(solve, piece) for piece in pieces]
        try:
            for future in as_completed(futures):
                done += future.result()
                if progress is not None:
                    progress(done, count)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
