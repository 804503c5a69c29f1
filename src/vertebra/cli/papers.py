"""`vertebra papers`: published numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vertebra.cli.answer import CommandError, print_json, require_suffix, say
from vertebra.cli.papers_files import write_comparison

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text; units are in the names.")]

FILES = (".html", ".png", ".csv")

app = typer.Typer(invoke_without_command=True)


@app.callback()
def every_paper(
    context: typer.Context,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Of all papers: also write one page (.html), a picture (.png) or a table (.csv)."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Set the numbers that papers publish beside ours: of one paper, or of all when none is named.

    vertebra papers --out papers.html
    """
    if context.invoked_subcommand is not None:
        if out is not None or as_json:
            raise CommandError(f"--out and --json go after the name of the paper: papers {context.invoked_subcommand}")
        return
    from vertebra.cli.papers_all import answer

    answer(out, require_suffix(out, FILES) if out is not None else "", as_json)


@app.command()
def hu2023(
    everything: Annotated[bool, typer.Option("--all", help="Print every table, cell by cell.")] = False,
    experiments: Annotated[
        bool, typer.Option("--experiments", help="Only the three ground-mounted experiments of the prototype.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Also write a page with plots and 3D shapes (.html), a picture (.png) or cells (.csv)."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Hu et al. 2023: shape of rolling-joint robots under cable tension and gravity."""
    from vertebra.cli.papers_hu2023 import print_comparison
    from vertebra.papers.hu2023.comparison import compare, compare_experiments
    from vertebra.papers.hu2023.records import record

    suffix = require_suffix(out, FILES) if out is not None else ""
    comparison = compare_experiments() if experiments else compare()
    if as_json:
        print_json(record(comparison) | ({"out": str(out)} if out is not None else {}))
    else:
        print_comparison(comparison, everything, experiments)
    if out is not None:
        write_comparison("hu2023", comparison, out, suffix)
        say(f"wrote {out}")


@app.command()
def yang2023(
    case: Annotated[
        list[int] | None, typer.Option("--case", help="Only the tips of this case of Table 4; may be repeated.")
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option("--condition", help="Only the tips under this condition, I to V; may be repeated."),
    ] = None,
    closure: Annotated[
        str | None, typer.Option("--closure", help="Only the tips by this closure: virtual-work or paper.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Print every table, with the tips of all cases.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Also write a page with plots and 3D shapes (.html), a picture (.png) or tips (.csv)."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Yang et al. 2023: twin-pivot robots with cable friction, weight and payload.

    The paper prints no tips, so that its claims are judged one by one. With --case, --condition or --closure only tips.

    vertebra papers yang2023 --case 16 --out case.html
    """
    from vertebra.cli.papers_yang2023 import print_claims, print_tips
    from vertebra.papers.yang2023.comparison import compare, select
    from vertebra.papers.yang2023.records import record

    suffix = require_suffix(out, FILES) if out is not None else ""
    chosen = _chosen(case, condition, closure)
    comparison = select(**chosen) if chosen else compare()
    if as_json:
        print_json(record(comparison) | ({"out": str(out)} if out is not None else {}))
    else:
        print_tips(comparison) if chosen else print_claims(comparison, everything)
    if out is not None:
        write_comparison("yang2023", comparison, out, suffix)
        say(f"wrote {out}")


def _chosen(case: list[int] | None, condition: list[str] | None, closure: str | None) -> dict[str, Any]:
    """What `select` is to solve; empty when nothing was chosen."""
    from vertebra.papers.yang2023.cases import CLOSURES, case_numbered
    from vertebra.papers.yang2023.conditions import condition_named

    if closure is not None and closure not in CLOSURES:
        raise CommandError(f"--closure: must be {' or '.join(CLOSURES)}, not {closure!r}")
    chosen: dict[str, Any] = {}
    if case:
        chosen["cases"] = [case_numbered(number) for number in dict.fromkeys(case)]
    if condition:
        chosen["conditions"] = list(dict.fromkeys(condition_named(name).name for name in condition))
    if closure is not None:
        chosen["closures"] = [closure]
    return chosen


@app.command()
def cai2023(
    everything: Annotated[
        bool, typer.Option("--all", help="Print every table, with the payload at every tension.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Also write a page with plots and 3D shapes (.html), a picture (.png) or payloads (.csv)."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Cai et al. 2023: payload of links that friction locks, against cable tension, in four shapes.

    The paper prints no payloads, so that ours are set beside the ranges that its printed errors imply.
    """
    from vertebra.cli.papers_cai2023 import print_comparison
    from vertebra.papers.cai2023.comparison import compare
    from vertebra.papers.cai2023.records import record

    suffix = require_suffix(out, FILES) if out is not None else ""
    comparison = compare()
    if as_json:
        print_json(record(comparison) | ({"out": str(out)} if out is not None else {}))
    else:
        print_comparison(comparison, everything)
    if out is not None:
        write_comparison("cai2023", comparison, out, suffix)
        say(f"wrote {out}")


@app.command()
def dantuono2023(
    case: Annotated[
        str | None, typer.Option("--case", help="Only the tensions of one motion: pan, tilt or 3d.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Print every table, with tensions over time and the equations as printed.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Also write a page with plots and 3D shapes (.html), a picture (.png) or tensions (.csv)."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """D'Antuono et al. 2023: cable tensions of a rolling-joint robot that pans, tilts and does both.

    The paper prints no tensions and no dimensions, so that its statements are judged one by one.

    vertebra papers dantuono2023 --case tilt --out tilt.html
    """
    from vertebra.cli.papers_dantuono2023 import print_case, print_comparison
    from vertebra.papers.dantuono2023.cases import CASES, case_named
    from vertebra.papers.dantuono2023.comparison import compare, compare_case
    from vertebra.papers.dantuono2023.records import record

    suffix = require_suffix(out, FILES) if out is not None else ""
    if case is not None and case.lower() not in CASES:
        raise CommandError(f"--case: must be {', '.join(CASES)}, not {case!r}")
    comparison = compare() if case is None else compare_case(case_named(case))
    if as_json:
        print_json(record(comparison) | ({"out": str(out)} if out is not None else {}))
    elif case is None:
        print_comparison(comparison, everything)
    else:
        print_case(comparison)
    if out is not None:
        write_comparison("dantuono2023", comparison, out, suffix)
        say(f"wrote {out}")


@app.command()
def lapusan2022(
    everything: Annotated[
        bool, typer.Option("--all", help="Print every table, with equations put right one by one and what is assumed.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Also write a page with plots and 3D shapes (.html), a picture (.png) or errors over time (.csv).",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Lapusan et al. 2022: shape of universal-joint modules from a network of orientation sensors.

    The paper's equations, the same put right and ours, with perfect and with simulated sensors. Takes some 15 s.
    """
    from vertebra.cli.papers_lapusan2022 import print_comparison
    from vertebra.papers.lapusan2022.comparison import compare
    from vertebra.papers.lapusan2022.records import record

    suffix = require_suffix(out, FILES) if out is not None else ""
    comparison = compare()
    if as_json:
        print_json(record(comparison) | ({"out": str(out)} if out is not None else {}))
    else:
        print_comparison(comparison, everything)
    if out is not None:
        write_comparison("lapusan2022", comparison, out, suffix)
        say(f"wrote {out}")
