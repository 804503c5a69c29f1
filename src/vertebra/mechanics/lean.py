"""The whole call tree of a kernel, compiled in one go.

numba compiles every function that a kernel calls down to machine code, links that into each caller and optimises again,
level by level. Here a function that only kernels call is typed and translated, and no more; an entry point, which
Python calls, links the untouched code of its whole call tree once, optimises it once, and alone goes to disk. That
takes about half the time, and leaves a seventh of the files.

It leans on inner parts of numba, so it serves only the versions it was tried with; with any other, `compiled` lets
numba compile as it always does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
from llvmlite import binding as llvm
from numba.core import registry, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes, InlineInlinables

TRIED = ("0.68.",)
"""How the versions of numba begin with which all tests have passed."""


def serves_this_numba() -> bool:
    return bool(numba.__version__.startswith(TRIED))


class _InnerLibrary(JITCodeLibrary):
    """The code of one function, as translated."""

    def _optimize_functions(self, module: Any) -> None:
        pass

    def finalize(self) -> None:
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            for function in self._final_module.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = "weak_odr"  # linkonce, as numba has it, is dropped before its caller is linked
            self._shared_module = self._final_module
        return self._shared_module


class _EntryLibrary(JITCodeLibrary):
    """The code of an entry point with its whole call tree."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._raise_if_finalized()
        module = self._final_module
        self._entry_names = {function.name for function in module.functions if not function.is_declaration}
        for library in self._call_tree():
            self._reload_init.update(library._reload_init)
            module.link_in(library._get_module_for_linking(), preserve=True)
        for function in module.functions:
            if not function.is_declaration and function.name not in self._entry_names:
                function.linkage = "internal"  # nobody else links this module: what is inlined everywhere goes
        passes, builder = self._codegen._module_pass_manager()
        passes.run(module, builder)
        self._finalize_final_module()

    def _call_tree(self) -> list[Any]:
        """All libraries below this one, each before those that it calls: what nobody refers to yet is not linked."""
        ended: list[Any] = []
        seen: set[Any] = set()

        def visit(library: Any) -> None:
            if library not in seen:
                seen.add(library)
                for called in library._linking_libraries:
                    visit(called)
                ended.append(library)

        for library in self._linking_libraries:
            visit(library)
        return ended[::-1]

    def _get_module_for_linking(self) -> Any:
        """The names alone: all that numba asks of code from disk, since nothing else is ever linked with it."""
        if self._shared_module is None:
            lines = (f'define void @"{name}"() {{ ret void }}' for name in sorted(self._entry_names))
            self._shared_module = llvm.parse_assembly("\n".join(lines))
        return self._shared_module


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):
    _name = "vertebra_inner_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        # The dispatcher wants a callable unlike any other for each type of arguments; kernels call by name.
        unlike_any_other: list[Any] = []
        never_called = unlike_any_other.append
        state.targetctx.insert_user_function(never_called, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=never_called)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(NativeLowering):
    _name = "vertebra_entry_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class _Pipeline(CompilerBase):
    """numba's own passes with another last one, and without those that find nothing in a kernel: no closures, no
    array expressions, no overloads to inline."""

    lowering: type[NativeLowering]
    idle = (InlineClosureLikes, InlineInlinables, NopythonRewrites)

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (self.lowering if each is NativeLowering else each, title)
            for each, title in passes.passes
            if each not in self.idle
        ]
        passes._finalized = False
        passes.finalize()
        return [passes]


class InnerCompiler(_Pipeline):
    lowering = _InnerLowering


class EntryCompiler(_Pipeline):
    lowering = _EntryLowering


_KNOWN: dict[Any, Any] = {}


@contextmanager
def remembered_typing() -> Iterator[None]:
    """Inside, what an operator or a builtin gives for some types of arguments is found once: numba looks through all
    its definitions of `+` at each of them, which takes a fifth of the time to compile. Hold the compiler's lock."""
    context = registry.cpu_target.typing_context
    resolve = context.resolve_function_type

    def remembered(function: Any, args: Any, kws: Any) -> Any:
        if kws or not isinstance(function, (type(len), type, types.Function)):
            return resolve(function, args, kws)
        key = (function, tuple(args))
        signature = _KNOWN.get(key)
        if signature is None:
            signature = resolve(function, args, kws)
            if signature is not None and signature.recvr is None:
                _KNOWN[key] = signature
        return signature

    context.resolve_function_type = remembered
    try:
        yield
    finally:
        del context.resolve_function_type
