"""Public names of this room beyond those that `vertebra` itself lists."""

from vertebra.follow.journey import FollowTheLeader as FollowTheLeader
from vertebra.follow.journey import Journey as Journey
from vertebra.follow.steps import Advance as Advance
from vertebra.follow.steps import Loosen as Loosen
from vertebra.follow.steps import Retract as Retract
from vertebra.follow.steps import Snake as Snake
from vertebra.follow.steps import Steer as Steer
from vertebra.follow.steps import Tighten as Tighten
