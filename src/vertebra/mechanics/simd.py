"""Eight numbers side by side, as a type of number for kernels.

A kernel that is called with `Lanes` where others pass a float works on eight problems at once, in the vector registers
of the processor: the same source, the same operations in the same order, each lane by itself. So the laws of the robot
are written once. What may differ from lane to lane cannot be branched on; `select` chooses, and `any_of` and `all_of`
tell whether a branch is needed at all. With floats the three are what `if` is. Two things are calculated in another way
than for floats: sin, cos and atan2 (nobody ships vector forms of them), to about 1e-16, and what is `fused`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing.templates import signature
from numba.extending import (
    intrinsic,
    lower_builtin,
    lower_cast,
    make_attribute_wrapper,
    models,
    overload,
    register_jitable,
    register_model,
    type_callable,
)

from vertebra.robot.tables import Floats

WIDTH = 8
_NUMBERS = ir.VectorType(ir.DoubleType(), WIDTH)
_CHOICES = ir.VectorType(ir.IntType(1), WIDTH)
_CACHE_LINE = 64


class _Eight(types.Type):
    """Eight of a kind; a single one that meets them counts for each of them."""

    singles: tuple[Any, ...]

    def __init__(self) -> None:
        super().__init__(type(self).__name__)

    def unify(self, typingctx: Any, other: Any) -> Any:
        return self if isinstance(other, self.singles) else None

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        return Conversion.safe if isinstance(other, self.singles) else None


class Lanes(_Eight):
    """Eight floats."""

    singles = (types.Float, types.Integer)


class Mask(_Eight):
    """Eight booleans: what comparing `Lanes` gives."""

    singles = (types.Boolean,)


class LaneTable(types.Type):
    """An array whose last axis are the lanes, which kernels index without that axis."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim
        super().__init__(f"LaneTable({ndim})")


lanes, mask = Lanes(), Mask()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lane_type: Any) -> None:
        super().__init__(manager, lane_type, _NUMBERS)


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, mask_type: Any) -> None:
        super().__init__(manager, mask_type, _CHOICES)


@register_model(LaneTable)
class _TableModel(models.StructModel):
    def __init__(self, manager: Any, table: Any) -> None:
        shape = types.UniTuple(types.intp, table.ndim)
        super().__init__(manager, table, [("data", types.CPointer(types.float64)), ("shape", shape)])


make_attribute_wrapper(LaneTable, "shape", "shape")


def lane_tables(*shapes: tuple[int, ...]) -> tuple[Floats, ...]:
    """Arrays for `in_lanes`, not filled, whose lanes do not lie across two lines of the processor's cache."""
    counts = [math.prod(shape) * WIDTH for shape in shapes]
    room = np.empty(sum(counts) + _CACHE_LINE // 8)
    first = -room.ctypes.data % _CACHE_LINE // 8
    tables = []
    for shape, count in zip(shapes, counts, strict=True):
        tables.append(room[first : first + count].reshape(*shape, WIDTH))
        first += count
    return tuple(tables)


def _emitted(function: Callable[..., Any]) -> Any:
    """A function of kernels that is written in the instructions themselves."""
    return intrinsic(function)


@_emitted
def in_lanes(typingctx, array):
    """The `LaneTable` of an array (..., WIDTH)."""
    table = LaneTable(array.ndim - 1)

    def emit(context, builder, signature, arguments):
        given = context.make_array(array)(context, builder, arguments[0])
        made = context.make_helper(builder, table)
        made.data = given.data
        sizes = [builder.extract_value(given.shape, axis) for axis in range(table.ndim)]
        made.shape = context.make_tuple(builder, types.UniTuple(types.intp, table.ndim), sizes)
        return made._getvalue()

    return table(array), emit


def _place(context: Any, builder: Any, table_type: Any, table: Any, index_type: Any, index: Any) -> Any:
    """Pointer to the lanes at an index."""
    helper = context.make_helper(builder, table_type, table)
    index_types = getattr(index_type, "types", [index_type])
    parts = [builder.extract_value(index, i) for i in range(len(index_types))] if len(index_types) > 1 else [index]
    offset = ir.Constant(ir.IntType(64), 0)
    for axis, (part, part_type) in enumerate(zip(parts, index_types, strict=True)):
        size = builder.extract_value(helper.shape, axis)
        offset = builder.add(builder.mul(offset, size), context.cast(builder, part, part_type, types.intp))
    start = builder.gep(helper.data, [builder.mul(offset, ir.Constant(ir.IntType(64), WIDTH))])
    return builder.bitcast(start, _NUMBERS.as_pointer())


def _is_index(table: Any, index: Any) -> bool:
    parts = getattr(index, "types", [index])
    return len(parts) == table.ndim and all(isinstance(part, types.Integer) for part in parts)


@type_callable(operator.getitem)
def _type_getitem(context: Any) -> Any:
    def typer(table: Any, index: Any) -> Any:
        return lanes if isinstance(table, LaneTable) and _is_index(table, index) else None

    return typer


@type_callable(operator.setitem)
def _type_setitem(context: Any) -> Any:
    def typer(table: Any, index: Any, value: Any) -> Any:
        if isinstance(table, LaneTable) and _is_index(table, index) and _is_number(value):
            return signature(types.none, table, index, lanes)
        return None

    return typer


@lower_builtin(operator.getitem, LaneTable, types.Any)
def _getitem(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    place = _place(context, builder, sig.args[0], arguments[0], sig.args[1], arguments[1])
    return builder.load(place, align=8)


@lower_builtin(operator.setitem, LaneTable, types.Any, Lanes)
def _setitem(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    place = _place(context, builder, sig.args[0], arguments[0], sig.args[1], arguments[1])
    builder.store(arguments[2], place, align=8)
    return context.get_dummy_value()


# Numbers that meet lanes count for each of them.


def _spread(builder: Any, value: Any, vector: Any) -> Any:
    undefined, index = ir.Constant(vector, ir.Undefined), ir.IntType(32)
    first = builder.insert_element(undefined, value, ir.Constant(index, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(index, WIDTH), [0] * WIDTH))


@lower_cast(types.Float, Lanes)
@lower_cast(types.Integer, Lanes)
def _number_to_lanes(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return _spread(builder, context.cast(builder, value, given, types.float64), _NUMBERS)


@lower_cast(types.Boolean, Mask)
def _boolean_to_mask(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return _spread(builder, value, _CHOICES)


def _is_number(value: Any) -> bool:
    return isinstance(value, (Lanes, *Lanes.singles))


# Arithmetic, comparison and logic, lane by lane, to the bits that floats give. The compiler may not fuse operations of
# its own accord: it would choose otherwise in another place, and a row would depend on its company.


def _define(function: Any, kind: type[_Eight], count: int, result: Any, emit: Callable[..., Any]) -> None:
    """`function` of `count` arguments of a kind, all but one of which may be single ones."""

    @type_callable(function)
    def type_it(context: Any) -> Any:
        def typed(*values: Any) -> Any:
            known = all(isinstance(value, (kind, *kind.singles)) for value in values)
            if known and any(isinstance(value, kind) for value in values):
                return signature(result, *(kind() for _ in values))
            return None

        if count == 1:
            return lambda a: typed(a)
        return lambda a, b: typed(a, b)

    @lower_builtin(function, *[kind] * count)
    def lower_it(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return emit(builder, *arguments)


def _absolute(builder: Any, value: Any) -> Any:
    return _call(builder, "llvm.fabs.v8f64", _NUMBERS, value)


def _call(builder: Any, name: str, result: Any, value: Any) -> Any:
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [value.type]), name)
    return builder.call(function, [value])


for _function, _emit in {
    operator.add: lambda b, u, v: b.fadd(u, v), operator.iadd: lambda b, u, v: b.fadd(u, v),
    operator.sub: lambda b, u, v: b.fsub(u, v), operator.isub: lambda b, u, v: b.fsub(u, v),
    operator.mul: lambda b, u, v: b.fmul(u, v), operator.imul: lambda b, u, v: b.fmul(u, v),
    operator.truediv: lambda b, u, v: b.fdiv(u, v), operator.itruediv: lambda b, u, v: b.fdiv(u, v),
    min: lambda b, u, v: b.select(b.fcmp_ordered("<", u, v), u, v),
    max: lambda b, u, v: b.select(b.fcmp_ordered(">", u, v), u, v),
}.items():  # fmt: skip
    _define(_function, Lanes, 2, lanes, _emit)
_define(operator.neg, Lanes, 1, lanes, lambda b, u: b.fneg(u))
_define(abs, Lanes, 1, lanes, _absolute)
for _function, _sign in {
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==",
}.items():  # fmt: skip
    _define(_function, Lanes, 2, mask, lambda b, u, v, sign=_sign: b.fcmp_ordered(sign, u, v))
_define(operator.ne, Lanes, 2, mask, lambda b, u, v: b.fcmp_unordered("!=", u, v))
_define(operator.and_, Mask, 2, mask, lambda b, u, v: b.and_(u, v))
_define(operator.iand, Mask, 2, mask, lambda b, u, v: b.and_(u, v))
_define(operator.or_, Mask, 2, mask, lambda b, u, v: b.or_(u, v))
_define(operator.ior, Mask, 2, mask, lambda b, u, v: b.or_(u, v))
_define(operator.invert, Mask, 1, mask, lambda b, u: b.not_(u))


@_emitted
def select(typingctx, condition, chosen, other):
    """`chosen` where the condition holds, else `other`."""
    if isinstance(condition, types.Boolean):
        result = typingctx.unify_types(types.unliteral(chosen), types.unliteral(other))
    else:
        result = mask if isinstance(chosen, (Mask, *Mask.singles)) else lanes

    def emit(context, builder, signature, arguments):
        return builder.select(*arguments)

    return result(types.unliteral(condition), result, result), emit


@_emitted
def fused(typingctx, a, b, c):
    """a b + c; of lanes with one rounding where the processor can, which takes half the time."""
    result = lanes if any(isinstance(value, Lanes) for value in (a, b, c)) else types.float64

    def emit(context, builder, signature, arguments):
        if result is types.float64:
            return builder.fadd(builder.fmul(arguments[0], arguments[1]), arguments[2])
        kind = ir.FunctionType(_NUMBERS, [_NUMBERS] * 3)
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.fmuladd.v8f64"), arguments)

    return result(result, result, result), emit


@_emitted
def like(typingctx, table, value):
    """A number, or a tuple of numbers, as the table holds them, or as another is: what a sum begins with."""
    given = types.unliteral(value)
    result = given
    if isinstance(table, (LaneTable, Lanes)):
        result = types.UniTuple(lanes, len(value)) if isinstance(value, types.BaseTuple) else lanes

    def emit(context, builder, signature, arguments):
        return context.cast(builder, arguments[1], given, result)

    return result(table, given), emit


@_emitted
def lane_of(typingctx, value, index):
    """One of the lanes."""

    def emit(context, builder, signature, arguments):
        return builder.extract_element(*arguments)

    return (types.boolean if isinstance(value, Mask) else types.float64)(value, types.intp), emit


def _reduced(name):
    @_emitted
    def reduce(typingctx, condition):
        def emit(context, builder, signature, arguments):
            if isinstance(condition, types.Boolean):
                return arguments[0]
            return _call(builder, f"llvm.vector.reduce.{name}.v8i1", ir.IntType(1), arguments[0])

        return types.boolean(condition), emit

    return reduce


any_of = _reduced("or")
"""Whether a condition holds in any lane; of a float, the condition itself."""
all_of = _reduced("and")
"""Whether it holds in all lanes."""


# Functions of an angle: fdlibm's polynomials, whose error is below 1e-17, on the range where they hold.

_S1, _S2, _S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
_S4, _S5, _S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
_C1, _C2, _C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
_C4, _C5, _C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11
_T0, _T1, _T2 = 3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01
_T3, _T4, _T5 = -1.11111104054623557880e-01, 9.09088713343650656196e-02, -7.69187620504482999495e-02
_T6, _T7, _T8 = 6.66107313738753120669e-02, -5.83357013379057348645e-02, 4.97687799461593236017e-02
_T9, _T10 = -3.65315727442169155270e-02, 1.62858201153657823623e-02
_EIGHTH_TURN, _EIGHTH_TURN_REST = 7.85398163397448278999e-01, 3.06161699786838301793e-17
_TAN_SIXTEENTH = math.sqrt(2.0) - 1.0


@register_jitable
def _sine_and_cosine(x):
    """For up to three eighths of a turn: beyond an eighth, of the angle to the next axis, exchanged."""
    turn = abs(x)
    exchanged = turn > _EIGHTH_TURN
    h = select(exchanged, (2.0 * _EIGHTH_TURN - turn) + 2.0 * _EIGHTH_TURN_REST, turn)
    z = h * h
    sine = h + h * (z * (_S1 + z * (_S2 + z * (_S3 + z * (_S4 + z * (_S5 + z * _S6))))))
    half = 0.5 * z
    most = 1.0 - half
    rest = z * z * (_C1 + z * (_C2 + z * (_C3 + z * (_C4 + z * (_C5 + z * _C6)))))
    cosine = most + (((1.0 - most) - half) + rest)
    along, across = select(exchanged, sine, cosine), select(exchanged, cosine, sine)
    return select(x < 0.0, -across, across), along


@overload(math.sin)
def _sin(x):
    return (lambda x: _sine_and_cosine(x)[0]) if isinstance(x, Lanes) else None


@overload(math.cos)
def _cos(x):
    return (lambda x: _sine_and_cosine(x)[1]) if isinstance(x, Lanes) else None


@overload(math.atan2)
def _atan2(y, x):
    """Of the angle to the nearest of the axes and diagonals."""

    def angle(y, x):
        high, wide = abs(y), abs(x)
        low, top = min(high, wide), max(high, wide)
        diagonal = low > _TAN_SIXTEENTH * top
        t = select(diagonal, low - top, low) / select(top == 0.0, 1.0, select(diagonal, low + top, top))
        z = t * t
        rest = _T5 + z * (_T6 + z * (_T7 + z * (_T8 + z * (_T9 + z * _T10))))
        turn = t - t * (z * (_T0 + z * (_T1 + z * (_T2 + z * (_T3 + z * (_T4 + z * rest))))))
        turn = select(diagonal, _EIGHTH_TURN + (turn + _EIGHTH_TURN_REST), turn)
        turn = select(high > wide, 2.0 * _EIGHTH_TURN - (turn - 2.0 * _EIGHTH_TURN_REST), turn)
        turn = select(x < 0.0, 4.0 * _EIGHTH_TURN - (turn - 4.0 * _EIGHTH_TURN_REST), turn)
        return select(y < 0.0, -turn, turn)

    return angle if isinstance(y, Lanes) and isinstance(x, Lanes) else None
