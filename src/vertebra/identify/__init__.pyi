"""Public names of this room beyond those that `vertebra` itself lists."""

from vertebra.identify.rig import read_rig as read_rig
from vertebra.identify.rig import simulate_rig as simulate_rig
from vertebra.identify.shapes import read_shapes as read_shapes
from vertebra.identify.shapes import simulate_shapes as simulate_shapes
from vertebra.identify.slip_fit import check_coverage as check_coverage
from vertebra.identify.slip_model import simulate_slips as simulate_slips
from vertebra.identify.slips import read_slips as read_slips
