"""Random command lines over all commands: each ends with a documented exit code and never with a traceback."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from tests.cli.every_command import COMMANDS

import vertebra as vb
from vertebra.cli.commands import OUTPUTS
from vertebra.robot.reading import yaml_text

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
PER_COMMAND = 60 if SOAK else 4

NUMBERS = [
    *("0", "-1", "1", "3", "0.5", "1e3", "1e308", "-1e308", "5e-324", "1e-300", "nan", "inf", "-inf", "1e999", "x", ""),
    *("9" * 30, "9" * 5000, "1,2", "1;2", "0x10", "1_0", "٣", "1 mm", "2 N", "10 deg", "5 s", "3 kg"),
]
TEXTS = [
    *NUMBERS,
    *("1,2,3", "1,2,3,4", "0,0,0", "0,0,-9.8", "1e308,1e308,1e308", "nan,nan,nan", "5 deg", "1,2,3 mm", "a,b,c"),
    *("1:20", "1:20:3", "1:2:3:4", "2:1", "1:1e308", "ground", "none", "file", "14,0.7,0.1", "static", "static 5"),
    *("bumper 5 N*m/rad", "bumper", "end", "arc 5 deg", "spiral", "worst", "1,0,0@3", "1,0,0;0,0,1@-1", "1,0,0@99"),
    *("EI=1+-0.1", "EI:2..1", "3@5 s", "\udcff", "é\n", "-", "--", "@", "[", "../..", "~"),
]
SANE = {
    "tensions": ["5", "20,20,20,40", "35", "1:20:5"], "inner_tensions": ["60"], "lengths": ["100 mm"],
    "shortenings": ["1 mm", "1,0.5,0,0.5 mm"], "stiffness_EA": ["2 kN"], "gravity": ["wall", "0,0,-9.8"],
    "load": ["0,0,-0.1", "0.1,0,0@3"], "friction": ["0.3", "none", "14,0.7,0.1"], "presliding": ["0.01 mm"],
    "start": ["straight", "1 deg", "static"], "angles": ["2 deg", "1,3,5"], "tip": ["5,0,100 mm"],
    "lower": ["0.5", "1"], "upper": ["40"], "direction": ["0,-1,0", "worst"], "shape": ["S 2 deg", "bends.csv"],
    "link": ["-1", "3,5"], "point": ["0,0,5 mm"], "tolerance": ["0.1 mm"], "stiffness": ["1,0,0:20"], "bend": ["3 deg"],
    "limits": ["end"], "damping": ["0.02"], "dt": ["1 ms"], "duration": ["2 ms"], "fit": ["EI", "friction"],
    "prior": ["EI=1+-0.05"], "law": ["14,0.7,0.1", "0.3"], "loads": ["300,400"], "noise": ["0.06, 1.5 deg"],
    "socket_limit": ["40 deg"], "tip_load": ["0,-0.3,0"], "min_contact_force": ["1 N"],
    "moment_per_force": ["0,5,0 mm"], "kinds": ["angles"],
}  # fmt: skip
ROBOTS = ["hu2023-prototype", "hu2023-planar", "yang2023-b", "cai2023", "dantuono2023", "lapusan2022", "robot.yaml"]
BLOCKING = {
    ("studio",): ["--port", "-1"],
    ("sense", "live"): ["--bus", "nowhere://"],
    ("sense", "record"): ["--bus", "nowhere://"],
    ("sense", "gateway"): ["--serial", "no-such-line"],
    ("sense", "hil"): ["--base", "no angle"],
    ("warmup",): ["no-such-group"],
}
"""Commands that run until Ctrl-C or in real time, with what makes them end."""


FILES: dict[str, Any] = {
    "empty.csv": "",
    "numbers.csv": "1,2,3\n4,5,6\n",
    "huge.csv": "t1,t2,t3,t4\n1e308,1e308,1e308,1e308\n",
    "rows.csv": "t1,t2,t3,t4\n5,5,5,9\n",
    "pulls.csv": "time_s,t1_N,t2_N,t3_N,t4_N\n0,20,20,20,40\n0.003,20,20,20,40\n",
    "motion.csv": "time_s,q1_deg,q2_deg,q3_deg\n0,0,0,0\n1e-320,1,1,1\n1e300,2,2,2\n",
    "tips.csv": "x_mm,y_mm,z_mm\n10,0,100\n1e300,0,0\n",
    "bends.csv": "bend_deg,azimuth_deg\n" + "2,90\n" * 19,
    "slips.csv": "tension_N,slip_force_N\n5,1\n10,2\n20,4\n",
    "rig.csv": "theta_deg,load_g,force_N,direction\n1,300,3,pull\n3,300,3.1,pull\n5,300,3.3,release\n9,300,3.5,pull\n",
    "digits.json": '{"history": ' + "1" * 5000 + "}",
    "large.json": '{"history": [1' + "0" * 400 + '], "angles": [1e400]}',
    "deep.json": "[" * 100_000,
    "list.json": "[1, 2]",
    "binary.blf": b"\xff\x00\x80" * 100,
    "frames.log": "(0.0) can0 080#\n(0.01) can0 zzz#00\n",
    "binary.mcap": b"\x89MCAP0\r\n" + b"\x00" * 50,
    "wrong.yaml": "vertebra: 1\nname: [\n",
    "robot.yaml": yaml_text(vb.load("hu2023-planar").to_mapping()),
}
SUFFIXES = (".html", ".png", ".svg", ".csv", ".json", ".nc", ".yaml", ".xml", ".dbc", "", ".mcap", ".blf")
ODD_OUTPUTS = ["no/folder.csv", "/dev/full", "/dev/null", ".", "x" * 300 + ".csv", "robot.yaml", "rows.csv"]


def value(parameter: Any, random_: random.Random) -> str:
    """A text for a parameter: most often of the right kind."""
    kind, sane = parameter.type_descriptor.annotation, random_.random() < 0.85
    if parameter.name in ("robot", "outer", "inner", "files", "robot_option"):
        return random_.choice(ROBOTS if sane else [*FILES, *TEXTS])
    if kind is Path:
        if parameter.name in OUTPUTS:
            return random_.choice([f"out{suffix}" for suffix in SUFFIXES] if sane else [*ODD_OUTPUTS, *TEXTS])
        return random_.choice([*FILES] if sane else ["gone.csv", ".", *TEXTS])
    if kind in (int, float):
        return random_.choice(["0", "1", "2", "0.5"] if sane and random_.random() < 0.8 else NUMBERS)
    if hasattr(kind, "__members__") and sane:
        return random_.choice([str(one.value) for one in kind])
    if sane and parameter.name in SANE:
        return random_.choice(SANE[parameter.name])
    return random_.choice(TEXTS)


def command_line(names: tuple[str, ...], command: Any, random_: random.Random) -> list[str]:
    line, chance = [*names], 4 / len(command.params)
    for parameter in random_.sample(command.params, len(command.params)):
        if random_.random() > (0.97 if parameter.required else chance) or parameter.name == "help":
            continue
        if parameter.param_type_name == "argument":
            line.append(value(parameter, random_))
        elif parameter.type_descriptor.annotation is bool:
            line.append(parameter.opts[0])
        else:
            line += [parameter.opts[0], *(value(parameter, random_) for _ in range(parameter.nargs))]
    line += BLOCKING.get(names, [])
    if names[0] == "papers":
        line += ["--out", "out.none"]  # a comparison takes many seconds
    if random_.random() < 0.05:
        line.insert(random_.randrange(1, len(line) + 1), random_.choice([*TEXTS, "--no-such-option", "-q"]))
    return line


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_random_command_lines(
    vertebra, names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    random_ = random.Random(" ".join(names))
    for _ in range(PER_COMMAND):
        for name, content in FILES.items():
            Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        line = command_line(names, COMMANDS[names], random_)
        ran = vertebra(*line)
        assert ran.code in (0, 2), (line, ran.err)
        assert "Traceback" not in ran.err, (line, ran.err)
        assert ran.code == 0 or ran.err.strip() or ran.out.strip(), line
        if "--json" in line and ran.code == 2:
            assert json.loads(ran.out)["exit"] == 2, line
