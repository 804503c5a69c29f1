"""What an answer is before it is shown: a `Report` of tables, figures, texts, rows and records, and how numbers look in
its tables. Nothing here draws: `html` makes the page of a report, `still` its picture, the command line the rest.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    import xarray
    from numpy.typing import ArrayLike

    from vertebra.errors import VertebraError
    from vertebra.report.panels import Panel
    from vertebra.report.scene import Scene

PICTURES = (".html", ".png", ".svg")
"""The page, which a browser shows, and still pictures."""
FILES = (*PICTURES, ".csv", ".json")
"""What most reports can be written to; where it differs, the file of the report says so. Commands refuse other names
before they compute anything."""
MOTION_FILES = (*FILES, ".nc")
MAP_FILES = (".html", ".nc", ".csv", ".json")
FIT_FILES = (".html", ".yaml", ".yml", ".json")
TURN_IT = "Drag to turn, scroll to zoom, point at a part to see where it is."


class Facts(NamedTuple):
    """A small table of texts."""

    title: str
    headers: tuple[str, ...]
    """All empty in a table of facts about one thing, whose first column names them."""
    rows: tuple[tuple[str, ...], ...]


class Files(NamedTuple):
    """A table whose first column saves a file for each row; so does a click on a mark of a `Series` with its key."""

    title: str
    lead: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """The first text of each is its key."""
    names: tuple[str, ...]
    """Of the files."""
    texts: tuple[str, ...]


class Paragraph(NamedTuple):
    """A few sentences."""

    title: str
    text: str


class Sentences(NamedTuple):
    """Sentences as a list, under a title and a lead; both may be empty."""

    title: str
    lead: str
    sentences: tuple[str, ...] = ()


class Listing(NamedTuple):
    """Lines of a file, shown as they are."""

    title: str
    text: str


class Box(NamedTuple):
    """A sentence that must not be overlooked, where it concerns the page only."""

    text: str


class Figures(NamedTuple):
    """Figures side by side on a page."""

    name: str
    """Keeps the ids of figures on one page apart."""
    figures: Sequence[Any] | Callable[[], Iterable[Any]]
    """Each a `Panel`, a `Scene`, or a plotly figure; a function where drawing waits for the page."""
    height: str
    """As CSS says it."""
    title: str
    caption: str
    buttons: bool = False
    """Whether plotly's buttons are shown, which save and zoom."""
    moves: bool = False
    """Whether it has frames, which its own buttons play."""
    columns: int = 0
    """Figures per row; 0 for all in one row."""


def big_picture(figure: Any, caption: str = TURN_IT) -> Figures:
    """The one picture at the top of a page."""
    return Figures("picture", [figure], "36rem", "", caption, buttons=True)


class Chapter(NamedTuple):
    """Sections under a heading of their own, which links reach as `#name`; headings inside are one level lower."""

    name: str
    title: str
    sections: Iterable[Section]


class Contents(NamedTuple):
    """Links to chapters."""

    entries: Sequence[tuple[str, str]]
    """Name and title of each."""


Section = Facts | Files | Paragraph | Sentences | Listing | Box | Figures | Chapter | Contents


class Rows(NamedTuple):
    """A table of values for a CSV file."""

    columns: Sequence[str]
    """Names with units."""
    rows: Iterable[Sequence[Any]]

    @classmethod
    def of(cls, records: Iterable[Mapping[str, Any]]) -> Rows:
        """Records with the same keys, one row each."""
        listed = list(records)
        columns = list(listed[0])
        return cls(columns, [[record[name] for name in columns] for record in listed])


def _no_tables() -> Iterable[Facts]:
    return ()


@dataclass(frozen=True)
class Report:
    """An answer in every form in which it can be given. What may take long to make is a function, so that only what is
    asked for is made."""

    title: str
    record: Callable[[], Any]
    """Everything as JSON, SI: a mapping, or a list where the answer is one."""
    tables: Callable[[], Iterable[Facts | Sentences | Listing]] = _no_tables
    """What a terminal shows."""
    notes: tuple[str, ...] = ()
    """What is good to know, said once on stderr."""
    warnings: tuple[str, ...] = ()
    """What must not be overlooked: on stderr, and in boxes at the top of the page."""
    failures: tuple[str, ...] = ()
    """Why the answer is not what was wanted; shown as warnings are, and the command exits with 2."""
    fault: VertebraError | None = None
    """What ended the computation early; the report is about the part before it."""
    closing: tuple[str, ...] = ()
    """Lines on stderr where tables are too much: how a recording went."""
    page: Callable[[], Iterable[Section]] | None = None
    footnote: str = ""
    """In the footer of the page."""
    picture: Callable[[], Scene | Sequence[Panel] | Callable[[], Any]] | None = None
    """A scene, plots in rows of two, or a function that draws a matplotlib figure."""
    picture_title: str | Callable[[], str] = ""
    """Where it differs from the title: a picture travels without its page."""
    rows: Callable[[], Rows] | None = None
    dataset: Callable[[], xarray.Dataset] | None = None
    texts: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    """Files of other kinds, by suffix."""
    files: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    """Files that write themselves, by suffix."""
    text: Callable[[], str] | None = None
    """An answer that is itself a text: printed as it is, and written to a file of any name."""
    file_words: str = ""
    """What stands behind the name of a file that was written."""

    @property
    def boxes(self) -> tuple[str, ...]:
        """What the page says before all else."""
        return self.failures + self.warnings


def without_empty_columns(facts: Facts) -> Facts:
    """The table without columns in which no row has a text."""
    kept = [i for i in range(len(facts.headers)) if any(row[i] for row in facts.rows)]
    rows = tuple(tuple(row[i] for i in kept) for row in facts.rows)
    return Facts(facts.title, tuple(facts.headers[i] for i in kept), rows)


def numeric_columns(facts: Facts) -> tuple[bool, ...]:
    """Which columns hold numbers only (or a dash for none), to be set flush right."""
    named = any(facts.headers)
    return tuple(named and all(_is_number(row[i]) for row in facts.rows) for i in range(len(facts.headers)))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?( %)?|-|rigid|infinite|", text) is not None


def number(value: float) -> str:
    """Six digits at most, without an exponent in the usual range."""
    return f"{value:.6g}"


def signless_zero(value: float, form: str) -> str:
    """The number as text; what rounds to zero has no sign."""
    text = format(value, form)
    return text.lstrip("-") if float(text) == 0 else text


def fixed(value: float, digits: int = 2, unit: str = "") -> str:
    """With a fixed number of digits after the point, never ``-0.00``; in words if it is not finite."""
    if not math.isfinite(value):
        return "no limit" if value > 0 else "none"
    return f"{signless_zero(value, f'.{digits}f')} {unit}".strip()


def significant(value: float, unit: str = "", digits: int = 4) -> str:
    """With a few significant digits; in words where there is no limit."""
    return f"{value:.{digits}g} {unit}".strip() if math.isfinite(value) else "no limit"


def vector(values: ArrayLike, form: str = ".6g") -> str:
    """Such as ``(0.00, -1.50, 20.00)``, without a minus in front of nothing."""
    import numpy as np

    return f"({', '.join(signless_zero(float(value), form) for value in np.asarray(values))})"


def degrees(angles: Sequence[float], most: int = 12) -> str:
    """Angles in degrees, cut short after `most`."""
    texts = [number(math.degrees(angle)) for angle in angles[:most]]
    return ", ".join(texts) + (f", ... ({len(angles)})" if len(angles) > most else "")


def plain_value(value: Any) -> Any:
    """Arrays as lists and NumPy numbers as Python's, for a record."""
    if isinstance(value, tuple | list):
        return [plain_value(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def plain_fields(source: object, names: Iterable[str]) -> dict[str, Any]:
    """Some fields of an object, for a record."""
    return {name: plain_value(getattr(source, name)) for name in names}


def json_text(value: object) -> str:
    """One JSON document; what JSON has no number for (NaN, infinity) becomes null."""
    return json.dumps(finite(value), indent=2, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """The same value with null in place of NaN and infinity, and plain lists in place of tuples."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
