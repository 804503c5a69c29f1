"""Public names of this room beyond those that `vertebra` itself lists."""

from vertebra.locked.best import BestTensions as BestTensions
from vertebra.locked.chain import sphere_grid as sphere_grid
from vertebra.locked.gradient import PayloadGradient as PayloadGradient
from vertebra.locked.gradient import payload_gradient as payload_gradient
from vertebra.locked.payload import Contact as Contact
from vertebra.locked.payload import Payload as Payload
