"""Papers together: every claim is counted under its verdict, and no miss is hidden."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from tests.papers.once import compared

import vertebra as vb
from vertebra.papers import NAMES, summary
from vertebra.papers.hu2023.report import compare
from vertebra.papers.paper import Verdict, paper, papers
from vertebra.papers.summary import Summary, summary_facts


@pytest.fixture(scope="module")
def found() -> dict[str, Summary]:
    return {name: Summary.of(compared(name)) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_the_claims(name: str, found: dict[str, Summary]) -> None:
    one, comparison = found[name], compared(name)
    assert {verdict: count for verdict, count in one.verdicts.items() if count} == Counter(
        claim.verdict for claim in comparison.claims
    )
    assert one.claims == len(comparison.claims)
    told = Counter(verdict for verdict, _ in one.reasons)
    assert told == {v: one.verdicts[v] for v in summary.EXPLAINED if one.verdicts[v]}
    assert one.headline == comparison.headlines[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_difference_has_its_reason(name: str) -> None:
    """No claim differs from ours without a reason; one that did would be called not reproduced."""
    for claim in compared(name).claims:
        assert claim.verdict is not Verdict.NOT_REPRODUCED
        assert claim.why or claim.verdict is Verdict.REPRODUCED, claim.key
        if claim.verdict is Verdict.DEPENDS:
            assert re.search(r"\d (mm|deg|%|N)|it is \d", claim.why), f"how far missing numbers move it: {claim.why}"
        assert claim.says
        assert claim.where


def test_what_is_reproduced(found: dict[str, Summary]) -> None:
    assert {name: one.reproduced.text for name, one in found.items()} == {
        "hu2023": "216 of 216",
        "yang2023": "3 of 4",
        "cai2023": "3 of 6",
        "dantuono2023": "1 of 2",
        "lapusan2022": "0 of 12",
    }


def test_a_cell_that_differs_is_counted_and_reported(found: dict[str, Summary]) -> None:
    whole = compared("hu2023")
    assert whole.reproduced is not None
    worse = replace(whole, reproduced=whole.reproduced._replace(done=215))
    sentences = list(Summary.of(worse).sentences())
    assert sentences[0].startswith("215 of 216 cells")
    assert sentences[1] == whole.headlines[0], "a miss is told in a sentence"
    assert list(found["hu2023"].sentences())[1] != whole.headlines[0]


def test_an_unexplained_difference_gets_a_column_and_a_cross(found: dict[str, Summary]) -> None:
    whole = compared("cai2023")
    claims = (replace(whole.claims[0], verdict=Verdict.NOT_REPRODUCED), *whole.claims[1:])
    one = Summary.of(replace(whole, claims=claims))
    assert one.reasons[0][0] is Verdict.NOT_REPRODUCED
    assert summary_facts([one]).headers[-1] == "not reproduced"
    assert "not reproduced" not in summary_facts(list(found.values())).headers
    assert [verdict.name for verdict in Verdict if verdict.sign == "\u2717"] == ["NOT_REPRODUCED"]


def test_reasons_say_what_the_text_says_and_what_is_found(found: dict[str, Summary]) -> None:
    reasons = {name: [text for _, text in one.reasons] for name, one in found.items()}
    angle = next(text for text in reasons["hu2023"] if text.startswith("Table 1: angle"))
    assert "(section 4.1.1): the text says 0.48 deg; found: cells 1.15, ours 1.15." in angle
    assert any("7.25 mm, errors allow 6.27-8.23; found: 4.85 mm" in text for text in reasons["yang2023"])
    assert any("> 90 %; found: 89.69 %" in text for text in reasons["yang2023"])
    assert [text[:3] for text in reasons["dantuono2023"]] == ["(a)", "(b)", "(c)", "(e)", "(f)"]
    assert sum("held up by its top" in text for text in reasons["dantuono2023"]) == 1, "the same reason once"
    assert reasons["dantuono2023"][1].endswith("the highest is T4. Same reason as (a).")


def test_tables_and_records(found: dict[str, Summary]) -> None:
    listed = list(found.values())
    wide, brief = summary_facts(listed), summary_facts(listed, brief=True)
    assert all(len(row) == len(wide.headers) for row in wide.rows)
    assert brief.rows == (
        ("hu2023", "216 of 216", "29", "25", "2", "2", "0"),
        ("yang2023", "3 of 4", "31", "16", "1", "5", "9"),
        ("cai2023", "3 of 6", "13", "7", "0", "5", "1"),
        ("dantuono2023", "1 of 2", "10", "4", "5", "0", "1"),
        ("lapusan2022", "0 of 12", "13", "3", "4", "4", "2"),
    )
    record = found["cai2023"].record()
    assert (record["reproduced"], record["of"], record["claims"]) == (3, 6, 13)
    assert repr(found["hu2023"]) == (
        "Summary(hu2023: 216 of 216 cells of Tables 1 to 3 equal to the printed digit;"
        " claims: 25 reproduced, 2 contradicts, 2 depends)"
    )


def test_progress_runs_from_nothing_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vertebra.papers.paper.Paper.compare", lambda self: compared(self.name))
    told: list[tuple[int, int]] = []
    assert [one.paper.name for one in summary.summaries(lambda done, total: told.append((done, total)))] == list(NAMES)
    assert told == sorted(told)
    assert (told[0], told[-1]) == ((0, 17), (17, 17))


def test_wrong_input_is_refused() -> None:
    with pytest.raises(vb.InputError, match="must be one of hu2023, yang2023"):
        paper("hu2024")
    with pytest.raises(vb.InputError, match="must be the whole comparison"):
        Summary.of(compare(experiments=True))


def test_declarations_name_presets_and_load_no_solver_and_no_plots() -> None:
    assert [one.name for one in papers()] == list(NAMES)
    assert {preset for one in papers() for preset in one.presets} <= set(vb.presets())
    code = (
        "import sys; from vertebra.papers.paper import papers; papers(); import vertebra.papers.summary;"
        "assert not {'plotly', 'matplotlib', 'numba', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
