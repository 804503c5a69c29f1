"""Public names of this room beyond those that `vertebra` itself lists."""

from vertebra.statics.branches import Equilibria as Equilibria
from vertebra.statics.branches import stable_tensions as stable_tensions
from vertebra.statics.forward import Shapes as Shapes
from vertebra.statics.hold import HoldingTensions as HoldingTensions
from vertebra.statics.path import PathState as PathState
from vertebra.statics.path import Walk as Walk
from vertebra.statics.shape import Shape as Shape
from vertebra.statics.shape import Status as Status
from vertebra.statics.shape import TipStiffness as TipStiffness
from vertebra.statics.stiffness import StiffnessCurve as StiffnessCurve
from vertebra.statics.tip import TipTensions as TipTensions
from vertebra.statics.tip_path import TipPath as TipPath
