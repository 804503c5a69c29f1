"""The page of all commands, from the command line itself."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

import typer

from vertebra.cli.commands import app

HEAD = """\
# Command line

*Written by `python -m tools.generate`; change the commands, not this page.*

Every command has `--help`. Numbers without a unit are SI; quantities may carry one (`"12 mm"`). `--json` prints an
answer for programs, with SI units; `--out` writes what its ending says. Answers go to standard output, warnings and
errors to standard error.

A command replaces a file only when the new one is complete: a full disk or a kill leaves the old file. Recordings are
the exception: they grow in whole blocks. No command writes over a file that it reads, even through a link, except that
`--save-state` may replace the file of `--from-state`.

| exit code | meaning |
|---|---|
| 0 | The answer is there. |
| 1 | Nobody reads the answer (`vertebra ... \\| head`); no message. |
| 2 | Something in the input is wrong, or the answer is not what was asked for; the message says what. |
| 3 | A bug in Vertebra; `VERTEBRA_TRACEBACK=1` in the environment shows where. |
| 130 | Interrupted by Ctrl-C; commands that run until Ctrl-C end with 0. |

With `--json`, every failure also prints one object, a wrong command line included. `error` is the type of the error,
`field` the option, field, column, file or joint that it is about, or empty:

```json
{
  "error": "CommandError",
  "field": "--lower",
  "message": "--lower: '1e308' is too large; give at most 1e+12 N",
  "exit": 2
}
```

Errors add what they carry: `joint`, `angle` and `limit`, `row` and `column`, or all `problems` of a robot file. Where
there is an answer but not the wanted one (`Unmet`: a tip that is not reached, a motion that is not feasible), its
fields are in the same object. A field whose name is taken gets the prefix `answer_`; a list is under `answer`.
"""


def page() -> str:
    """The page in Markdown."""
    root: Any = typer.main.get_command(app)
    commands = sorted(_commands(root, ("vertebra",)), key=lambda found: found[0])
    overview = ["| command | what it does |", "|---|---|"]
    overview += [f"| [`{' '.join(path)}`](#{'-'.join(path)}) | {_sentence(command)} |" for path, command in commands]
    return "\n".join([HEAD, *overview, "", *(_section(path, command) for path, command in commands)])


def _commands(group: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Everything that can be called, with its words."""
    for name, command in group.commands.items():
        words = (*path, name)
        if not hasattr(command, "commands") or command.invoke_without_command:
            yield words, command
        if hasattr(command, "commands"):
            yield from _commands(command, words)


def _paragraphs(command: Any) -> list[str]:
    return [part for part in (command.help or "").split("\n\n") if part]


def _sentence(command: Any) -> str:
    return _cell(_paragraphs(command)[0])


def _section(path: tuple[str, ...], command: Any) -> str:
    texts = _paragraphs(command)
    examples = [text for text in texts if text.startswith("vertebra ")]
    lines = [f"## {' '.join(path)} {{ #{'-'.join(path)} }}", ""]
    for text in texts:
        if text not in examples:
            lines += [text, ""]
    if examples:
        lines += ["```sh", *(example.replace("\n", " \\\n    ") for example in examples), "```", ""]
    shown = [option for option in command.params if not option.hidden]
    if shown:
        lines += ["| option | default | meaning |", "|---|---|---|", *map(_row, shown), ""]
    return "\n".join(lines)


def _row(option: Any) -> str:
    is_argument = option.param_type_name == "argument"
    names = (option.metavar or option.name.upper(),) if is_argument else (*option.opts, *option.secondary_opts)
    default = "**required**" if option.required else _default(option)
    return f"| {', '.join(f'`{name}`' for name in names)} | {default} | {_cell(option.help or '')} |"


def _default(option: Any) -> str:
    value = option.default.value if isinstance(option.default, Enum) else option.default
    if value is None or isinstance(value, bool | list | tuple) or callable(value):
        return ""
    return f"`{value}`"


def _cell(text: str) -> str:
    """Text for a cell of a table; brackets would be read as links, and stars as emphasis."""
    for sign in "|[]*<>":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())
