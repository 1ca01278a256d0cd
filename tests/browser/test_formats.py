import io
import re
from contextlib import suppress

import pytest
import xlsxwriter
from playwright.sync_api import Page, TimeoutError, expect

from tests.browser.conftest import OpenPage
from tests.browser.visits import (
    choose,
    drop,
    go_on_to_analysis,
    picture,
    results,
    run,
    settle,
    table,
    view,
    violations,
)
from tests.labels import ALL_STATISTICS, DROP_FILES, LABEL_COLUMN, UNDERSTOOD

GENDERS = ("Weiblich ", "männlich", "weiblich", "männlich")


def spreadsheet() -> bytes:
    """A sheet of a kind that no reader was written for: notes first, a title, German names, two spellings."""
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    book.add_worksheet("Hinweise").write_column(0, 0, ["Bitte nicht weitergeben", "Stand: Mai"])
    sheet = book.add_worksheet("Kodierung")
    sheet.write(0, 0, "Kodierung der Beiträge, Welle 3")
    sheet.write_row(2, 0, ["Beitrag", "Wer", "beleidigend?", "Hass?", "Geschlecht", "Alter"])
    for row in range(40 * 12):
        post, person = divmod(row, 12)
        insult = "ja" if (post * 7 + person * (3, 5)[person % 2]) % 4 == 0 else "nein"
        hate = "ja" if (post + person) % 9 == 0 else "unsicher" if post % 11 == person else "nein"
        about = (GENDERS[0 if person == 0 else 1 + (person + 1) % 2], 19 + 4 * person)
        sheet.write_row(3 + row, 0, [f"P{post:03d}", f"K{person:02d}", insult, hate, *about])
    book.close()
    return out.getvalue()


RECODE = re.compile(r"^Recode values( \(\d+\))?$")
"""The section's title; sentences name it, too."""


def add_step(page: Page, kind: str, field: str) -> None:
    """Open the form of a step, again if the page was still drawing; `field` is its first."""
    first = page.get_by_role("combobox", name=field, exact=True)
    option = page.get_by_test_id("stButtonGroup").get_by_text(kind, exact=True)
    for _ in range(10):
        if not page.get_by_text(RECODE).is_visible():
            page.get_by_text("Change how the files are read").click()
        if not option.is_visible():
            page.get_by_text(RECODE).click()
        with suppress(TimeoutError):
            option.click(timeout=3_000)
        settle(page)
        if first.count():
            return
    raise AssertionError(f"the form of {kind} does not open")


def apply(page: Page) -> None:
    removable = page.get_by_role("button", name=re.compile(r"^Remove step \d"))
    steps = removable.count()
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(removable).to_have_count(steps + 1)  # only then is the form closed
    settle(page)


def write(page: Page, field: str, text: str) -> None:
    box = page.get_by_role("textbox", name=field)
    box.fill(text)
    box.press("Enter")
    settle(page)


@pytest.mark.long
def test_a_spreadsheet_that_no_reader_was_written_for(open_page: OpenPage) -> None:
    page = open_page("/data")
    drop(page, DROP_FILES, "Kodierung.xlsx", spreadsheet())
    page.get_by_text("Something is still to be chosen above.").wait_for()
    settle(page)
    choose(page, LABEL_COLUMN, "beleidigend?")  # one of two questions: it is asked
    add_step(page, "Combine questions", "Questions")
    choose(page, "Questions", "beleidigend?", "Hass?")
    choose(page, "The first of these that any question has", "ja", "unsicher", "nein")
    write(page, "Name of the new column", "verletzend")
    apply(page)
    add_step(page, "Cut numbers", "Column to recode")
    choose(page, "Column to recode", "Alter")
    write(page, "Cut at", "30, 45")
    picture(page, "data-recoding")
    apply(page)
    add_step(page, "Change values", "Column to recode")
    choose(page, "Column to recode", "Geschlecht")
    page.get_by_text("Fill in one spelling each").click()
    settle(page)
    apply(page)
    choose(page, LABEL_COLUMN, "verletzend")
    page.get_by_role("heading", name=UNDERSTOOD).wait_for()
    picture(page, "data-spreadsheet")
    assert violations(page) == []
    go_on_to_analysis(page)
    run(page)
    results(page)
    view(page, "Groups in numbers")
    groups = {row["Group"] for row in table(page, ALL_STATISTICS)}
    assert groups == {"männlich", "weiblich", "under 30", "30-44", "45 and over"}
