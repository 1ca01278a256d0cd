import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.cautions import Caution, GuardCaution
from grasp_core.model.remarks.remark import said
from grasp_core.report.contents import brackets
from grasp_core.report.writers.latex import escape_latex, table_latex
from tests.report.hostile import TEXTS, hostile_result
from tests.results import (
    make_group,
    make_label_use,
    make_outcome,
    make_result,
    with_label_use,
    with_pairs,
    with_slices,
)

COMMANDS = {
    "begin", "end", "centering", "small", "setlength", "tabcolsep", "caption", "label", "toprule", "midrule",
    "bottomrule", "multicolumn", "textit", "uparrow", "downarrow", "times",
    "textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar", "char",
    "dots", "par", "medskip", "textwidth", "footnotesize", "ref",
}  # fmt: skip
ENGINES = ("pdflatex", "xelatex", "lualatex")


def body(text):
    return [line for line in text.splitlines() if not line.startswith("%")]


def table(text, label):
    """The lines of one table, by its label."""
    (found,) = [one for one in text.split(r"\begin{table*}")[1:] if rf"\label{{tab:grasp{label}}}" in one]
    return [r"\begin{table*}", *body(found.strip("\n"))]


def test_table_5_has_every_column_in_every_row():
    lines = table(table_latex(make_result()), "")
    assert lines[0] == r"\begin{table*}"
    assert lines[-1] == r"\end{table*}"
    assert r"\label{tab:grasp}" in lines
    assert r"\begin{tabular}{lrr@{ }lr@{ }lr@{ }lr@{ }lr@{ }lr@{ }lr@{ }l}" in lines
    caption = next(line for line in lines if line.startswith(r"\caption{"))
    assert r"Q\_overall by age, gender, race, race $\times$ gender, with 10,000 random groupings" in caption
    assert r"{*}{*}: after correction, q \textless{} 0.05 (Benjamini--Hochberg)." in caption
    assert sum(line.startswith(r"\multicolumn{16}{l}{\textit{") for line in lines) == 4
    row = next(line for line in lines if line.startswith("Asian, Woman & 10 &"))
    assert row.endswith(r"& 0.543 & $\downarrow$ & 0.540 & $\downarrow$* \\")
    assert any(r"0.724 & $\uparrow$** &" in line for line in lines)
    for line in table(table_latex(make_result()), ""):
        if line.endswith(r"\\") and "multicolumn{16}" not in line:
            spans = [int(span) for span in re.findall(r"\\multicolumn{(\d+)}", line)]
            assert line.count(" & ") + 1 + sum(span - 1 for span in spans) == 16


def test_negative_and_missing_values():
    row = make_group("A", gai=Outcome(None, reason=said("r")), irr=make_outcome(-0.25, "down"))
    text = table_latex(make_result((row,), statistics=("irr", "gai")))
    assert r"A & 12 & $-$0.250 & $\downarrow$ & \multicolumn{2}{c}{---} \\" in text
    assert "---: not estimable." in text
    assert "not estimable" not in table_latex(make_result())
    assert "There is no group to show." in table_latex(make_result(()))


def test_warnings_stand_below_the_table_and_further_tables_lead_there():
    beware = GuardCaution.OWN_WORKLOAD(axis="race", group="Black", times=1.5)
    few = Caution.TOO_FEW_FOR_P()
    lines = table_latex(replace(with_pairs(), warnings=(few, beware))).splitlines()
    note = lines[lines.index(r"\end{tabular}") + 2]
    assert note.startswith(
        r"\begin{minipage}{\textwidth}\footnotesize Careful: (1) race: groups rated different"
    )
    assert "; (2) with fewer than 100 permutations" in note
    captions = [line for line in lines if line.startswith(r"\caption")]
    assert [r"Table~\ref{tab:grasp}" in line for line in captions] == [False] + [True] * (len(captions) - 1)
    without = table_latex(with_pairs())
    assert "Careful" not in without
    assert without.count(r"\begin{minipage}") == 1  # what is told of pairs


def test_remarks_are_comments_that_fit():
    few = make_result((make_group("A", gai=make_outcome(1.0, "up")),))
    assert table_latex(few).count("\n%") == 0
    other = make_result((make_group("日本", gai=make_outcome(1.0, "up")),))
    assert "% Names below hold letters that pdfLaTeX may lack" in table_latex(other)
    many = make_result(tuple(make_group(f"g{n}", gai=make_outcome(1.0, "up")) for n in range(46)))
    assert "% Longer than a page" in table_latex(many)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("\\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("50 % & $5 #1 a_b", r"50 \% \& \$5 \#1 a\_b"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("^^5c", r"\textasciicircum{}\textasciicircum{}5c"),
        ("a--b ''c''", r"a-{}-b '{}'c'{}'"),
        ("Benjamini–Hochberg’s", "Benjamini--Hochberg's"),
        ("[18-24] *", r"{[}18-24{]} {*}"),
        ("a\nb\u202e", "a b{[}U+202E{]}"),
        ("é 日本", "é 日本"),
    ],
)
def test_escapes(text, escaped):
    assert escape_latex(text) == escaped


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:20]))
def test_no_text_is_a_command(text):
    escaped = escape_latex(text)
    assert set(re.findall(r"\\([a-z]+)", escaped)) <= COMMANDS
    bare = re.sub(r"\\[\\{}$&#%_]", "", escaped)
    assert bare.count("{") == bare.count("}")
    assert not re.search(r"[%#&_^~]", bare)
    assert re.sub(r"\$(\\[a-z]+|-)\$", "", bare).count("$") == 0


def test_a_hostile_table_keeps_its_structure():
    text = "\n".join(body(table_latex(hostile_result())))
    assert set(re.findall(r"\\([A-Za-z]+)", text)) <= COMMANDS
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert "\x00" not in text
    groups, _, labels = text.split(r"\end{table*}")[:3]
    # Header, groups and their axes, of which "\tx" and "\rx" look the same.
    assert sum(line.endswith(r"\\") for line in groups.splitlines()) == 1 + len(TEXTS) + len(TEXTS) - 1
    assert sum(line.endswith(r"\\") for line in labels.splitlines()) == 1 + 2


def test_label_use_is_a_second_table():
    row = with_label_use(make_group("A"), make_label_use({"No": 12.0, "Yes_%": -12.0}, "**"))
    text = table_latex(make_result((row,), statistics=("irr",)))
    assert r"\label{tab:grasp-labels}" in text
    assert r"Axis & Group & Raters & No & Yes\_\% & p & q \\" in text
    assert r"gender & A & 12 & +12.0 & $-$12.0 & \textless{} 0.001 & \textless{} 0.001 {*}{*} \\" in text
    assert "labels" not in table_latex(make_result())


def test_pairs_are_a_table_of_both_groups():
    text = table_latex(with_pairs())
    assert text.count(r"\label{tab:grasp-pairs}") == 1
    pairs = table(text, "-pairs")
    (row,) = [line for line in pairs if line.startswith("race & Black (9) & White (10) & ")]
    assert r"+14.2 {*}{*}" in row
    (head,) = [line for line in pairs if line.startswith("Axis & First & Second & ")]
    assert head.count(" & ") == row.count(" & ")
    (form,) = re.findall(r"grasp-pairs}\n\\begin{tabular}{(l+r+)}", text)
    assert len(form) == head.count(" & ") + 1
    assert "tab:grasp-pairs" not in table_latex(make_result())
    found = with_pairs()
    long = table_latex(replace(found, pairs=found.pairs * 20)).split(r"\label{tab:grasp-pairs}")[0]
    assert "% Longer than a page" in long
    assert "% Longer than a page" not in table_latex(found).split(r"\label{tab:grasp-pairs}")[0]


def test_slices_are_a_table_for_each_column():
    found = with_slices()
    (topic,) = found.slices
    text = table_latex(replace(found, slices=(topic, replace(topic, column="kind_%"))))
    assert [text.count(rf"\label{{tab:grasp-slices-{n}}}") for n in (1, 2, 3)] == [1, 1, 0]
    assert r"\caption{Every group on the items of each value of kind\_\%: " in text
    news = [line for line in table(text, "-slices-1") if line.startswith("news & 20 & gender & Woman & ")]
    assert len(news) == 1
    assert r"0.400 $\uparrow${*}{*}" in news[0]


def test_every_number_has_its_interval_p_and_q():
    result = replace(with_slices(), pairs=with_pairs().pairs)
    text = table_latex(result)
    for label in ("numbers", "label-numbers", "pair-numbers", "slices-1-numbers", "slices-1-labels"):
        lines = table(text, f"-{label}")
        (head,) = [line for line in lines if r"95 \% interval & p" in line]
        assert head.removesuffix(r" \\").endswith((" & p & q", " & p of all labels & q of all labels"))
        caption = next(line for line in lines if line.startswith(r"\caption"))
        assert escape_latex(brackets(result.spec.analysis)) in caption
    assert any("Woman & Yes & +12.0 & {[}+4.0, +20.0{]}" in line for line in table(text, "-slices-1-labels"))
    dsi = table(table_latex(make_result()), "-dsi")
    assert any(line.startswith(r"race $\times$ gender & White, Man & 1.262 & none & ") for line in dsi)


@pytest.mark.parametrize("engine", ENGINES)
def test_it_compiles(engine, tmp_path):
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed")
    hostile = [text[:200] for text in TEXTS if text.isascii()]
    groups = tuple(make_group(text, gai=make_outcome(1.0, "up", "**")) for text in hostile)
    tables = table_latex(make_result()) + table_latex(make_result(groups, statistics=("gai",)))
    tables += table_latex(with_pairs()) + table_latex(with_slices())
    document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{tables}\end{{document}}"
    (tmp_path / "table.tex").write_text(document, encoding="utf-8")
    command = [engine, "-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
