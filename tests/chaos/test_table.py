"""The table of a run, and where it is written."""

from tests.chaos.audit import Findings
from tests.chaos.rounds import Result
from tests.chaos.table import BEGIN, END, markdown, rows, written_into
from tests.chaos.writers import Defects


def result(fault: str, **lists: list[str]) -> Result:
    findings = Findings(**{name: found for name, found in lists.items() if name != "wrong_statuses"})
    return Result(
        "kill", fault, "", 10, 2.0, findings, Defects(wrong_statuses=lists.get("wrong_statuses", []))
    )


def test_every_fault_has_a_row_and_all_of_them_a_sum() -> None:
    """What was lost, doubled, corrupted or stuck, and every wrong status, is in its own column."""
    table = rows(
        [result("one"), result("two", lost=["a"], stuck=["b", "c"]), result("one", wrong_statuses=["d"])]
    )
    assert [row[:3] for row in table] == [("kill", "one", "2"), ("kill", "two", "1"), ("all", "", "3")]
    assert table[-1][3:10] == ("30", "1", "0", "0", "2", "1", "0")


def test_a_table_replaces_the_one_before_and_nothing_else() -> None:
    """docs/reliability.md keeps its prose, however often the table is written."""
    text = markdown(
        [result("one")], command="make chaos", commit="abc", minutes=3.0, stolen="7%", notes=["a: skipped"]
    )
    assert "7% of its time" in text
    document = f"# Title\n\n{BEGIN}\nold\n{END}\n\nMore.\n"
    once = written_into(document, text)
    assert once == f"# Title\n\n{BEGIN}\n{text}{END}\n\nMore.\n"
    assert written_into(once, text) == once
    assert written_into("no marks", text) == text
