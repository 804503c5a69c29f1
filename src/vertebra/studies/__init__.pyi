"""Public names of this room beyond those that `vertebra` itself lists."""

from vertebra.studies.cases import Case as Case
from vertebra.studies.study import Study as Study
from vertebra.studies.study_file import json_schema as json_schema
from vertebra.studies.workspace import Workspace as Workspace
