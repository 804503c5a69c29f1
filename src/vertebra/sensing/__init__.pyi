"""Public names of this room beyond those that `vertebra` itself lists."""

from vertebra.sensing.calibration.calibrate import calibrate as calibrate
from vertebra.sensing.calibration.calibration import load_calibration as load_calibration
from vertebra.sensing.live import LiveSession as LiveSession
from vertebra.sensing.live import replay as replay
from vertebra.sensing.recording.raw_log import LogReader as LogReader
from vertebra.sensing.recording.raw_log import RawLogWriter as RawLogWriter
from vertebra.sensing.recording.recorder import Recorder as Recorder
from vertebra.sensing.recording.shape_reader import read_shapes as read_shapes
from vertebra.sensing.sensed_shape import SensedShape as SensedShape
from vertebra.sensing.sensed_shape import SensorHealth as SensorHealth
from vertebra.sensing.simulated.motion import Motion as Motion
from vertebra.sensing.simulated.sensors import SensorModel as SensorModel
from vertebra.sensing.simulated.stream import simulated_frames as simulated_frames
from vertebra.sensing.wire.bus import open_bus as open_bus
from vertebra.sensing.wire.bus import receive as receive
from vertebra.sensing.wire.bus import send as send
from vertebra.sensing.wire.can import Frame as Frame
from vertebra.sensing.wire.can import bus_load as bus_load
from vertebra.sensing.wire.dbc import dbc_path as dbc_path
from vertebra.sensing.wire.dbc import dbc_text as dbc_text
