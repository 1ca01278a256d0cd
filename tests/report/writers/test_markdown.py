import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from grasp_core.model.groups import one_line
from grasp_core.model.outcome import Outcome, Shift
from grasp_core.model.remarks.remark import said
from grasp_core.model.text import WORD_JOINER, printable_name
from grasp_core.report.contents import brackets, not_estimable
from grasp_core.report.words.names import NOT_ESTIMABLE
from grasp_core.report.writers.markdown import escape_inline, table_markdown
from tests import results
from tests.report.hostile import TEXTS, hostile_result


def parsed(text):
    """GitHub's dialect as far as the parser knows it: tables, strike-through and HTML."""
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)


def tables(text, part=0):
    """Every table before "In numbers", or of that part, as rows of cell texts; a cell holds text alone."""
    found, tokens = [], parsed(text.split("\n## In numbers")[part])
    for position, token in enumerate(tokens):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("th_open", "td_open"):
            inline = tokens[position + 1]
            assert {child.type for child in inline.children} <= {"text", "text_special"}, inline.content
            found[-1][-1].append("".join(child.content for child in inline.children))
    return found


def test_tables():
    text = table_markdown(results.make_result())
    assert text.startswith(
        "# Q\\_overall by age, gender, race, race × gender\n\n"
        "label 'Q\\_overall': 36,400 annotations of 350 items by 104 raters ("
    )
    assert ").\n\n**White Man** raters agree with each other more" in text
    assert "\n- What to do: Recruit more **White Man** raters" in text
    groups, dsi = tables(text)
    assert groups[0][:3] == ["Axis", "Group", "Raters"]
    assert groups[0][-1] == "GAI"
    assert len(groups) == 21
    assert groups[12][1] == "Asian, Woman"
    assert groups[12][-1] == "0.540 ↓*"
    assert dsi[:3] == [
        ["Axis", "Attained by", "DSI", "95 % interval", "p", "q"],
        ["race × gender", "White, Man", "1.262", "none", "< 0.001", "< 0.001 **"],
        ["race", "Latine", "1.139", "none", "0.021", "0.086 *"],
    ]
    assert "\\*: may be luck, p < 0.05; \\*\\*: after correction, q < 0.05 (Benjamini–Hochberg)." in text
    text = table_markdown(results.make_result(warnings=("Beware.",)))
    assert 0 < text.index("**Warnings**\n\n- Beware.") < text.index("| Axis |")
    assert "Warnings" not in table_markdown(results.make_result())
    assert [len(table) for table in tables(table_markdown(results.make_result(())))] == [1]


def test_what_cannot_be_estimated():
    row = results.make_group("A", gai=Outcome(None, reason=said("XRR is 0")))
    result = results.make_result((row,), statistics=("gai",), dsi=())
    text = table_markdown(result)
    assert tables(text)[0][1][-1] == NOT_ESTIMABLE
    assert f"- {not_estimable(result)[0]}" in text


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:20]))
def test_text_shows_as_itself(text):
    row = results.make_group(text, gai=results.make_outcome(1.0, "up"))
    ((_, cells),) = tables(table_markdown(results.make_result((row,), statistics=("gai",), dsi=())))
    assert cells[1].replace(WORD_JOINER, "") == printable_name(one_line(text))
    assert not re.search(rf"[:@](?=[^\s{WORD_JOINER}])|www\.", escape_inline(text))


def test_a_hostile_result_is_three_tables_and_text():
    text = table_markdown(hostile_result())
    groups, dsi, labels = tables(text)
    assert len(labels) == 1 + 2
    assert len(groups) == len(TEXTS) + 1
    assert len(dsi) == len(TEXTS)
    assert {len(row) for row in groups} == {7}
    kinds = {child.type for token in parsed(text) if token.type == "inline" for child in token.children}
    assert kinds <= {"text", "text_special", "strong_open", "strong_close"}
    assert not {token.type for token in parsed(text)} & {"html_block", "code_block", "fence"}


def test_pairs_and_slices_are_told_and_tabled():
    text = table_markdown(results.with_pairs())
    assert "**Black** raters say “**Yes**” 14 points more often than **White**" in text
    assert "| race | Black (9) | White (10) |" in text
    text = table_markdown(results.with_slices())
    assert "\n\n## Slices by topic\n\n- On **topic = news** (20 items), **Woman** raters (n = 12) " in text
    *_, slices = tables(text)
    assert slices[0][:5] == ["topic", "Items", "Axis", "Group", "Raters"]
    assert [row[:4] for row in slices[1:]] == [
        ["news", "20", "gender", "Woman"],
        ["sport", "10", "gender", "Woman"],
    ]
    assert slices[1][slices[0].index("IRR")] == "0.400 ↑**"


def test_every_number_has_its_interval_p_and_q():
    result = replace(results.with_slices(), pairs=results.with_pairs().pairs)
    text = table_markdown(result)
    assert brackets(result.spec.analysis) in text
    found = tables(text, 1)
    heads = [table[0] for table in found]
    assert [head[:3] for head in heads] == [
        ["Statistic", "Axis", "Group"],
        ["Axis", "Group", "Label"],
        ["Axis", "First", "Second"],
        ["topic", "Items", "Statistic"],
        ["topic", "Items", "Axis"],
    ]
    of_labels = ["95 % interval", "p over raters and items", "p of all labels", "q of all labels"]
    assert all(head[-3:] == ["95 % interval", "p", "q"] or head[-4:] == of_labels for head in heads)
    use = next(row for row in found[4] if row[:5] == ["news", "20", "gender", "Woman", "Yes"])
    assert use[5:7] == ["+12.0", "[+4.0, +20.0]"]


def test_the_shift_of_the_mean_and_dsi_of_slices_are_told():
    found = results.with_slices()
    use = replace(results.make_label_use({"1": 12.0, "2": -12.0}), mean=Shift(-0.25, -0.4, -0.1, p=0.04))
    row = results.with_label_use(results.make_group("Woman", irr=results.make_outcome(0.4, "up")), use)
    of_axis = results.make_result((results.make_group("Woman", gai=results.make_outcome(1.2, "up")),)).dsi
    (topic,) = found.slices
    values = tuple(replace(one, groups=(row,), dsi=of_axis) for one in topic.values)
    whole = replace(found, groups=(row,), slices=(replace(topic, values=values),))
    shown = tables(table_markdown(whole), 1)
    assert ["gender", "Woman", "−0.250", "[−0.400, −0.100]"] in [row for one in shown for row in one]
    assert ["news", "20", "gender", "Woman", "1.200"] in [row[:5] for row in shown[-1]]
