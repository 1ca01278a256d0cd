"""Texts that some format would run, follow or choke on, as the names of groups and all else from data."""

from dataclasses import replace

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.groups import Group
from grasp_core.model.outcome import LabelUse, Outcome
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import DsiResult, FileFingerprint, RunResult
from grasp_core.model.spec import AnalysisSpec, RunSpec
from tests.results import make_group, make_label_use, make_outcome, make_result, with_label_use

TEXTS = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>'",
    "</style></title></pre><!--",
    '=HYPERLINK("http://x.example")',
    "=1+1",
    "+1",
    "-2",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "a|b",
    "[a](http://x.example) ![b](http://x.example/b.png)",
    "`a` *b* _c_ ~~d~~ # e",
    "www.x.example a@x.example http://x.example :smile:",
    "\\input{/etc/passwd}",
    "\\end{tabular}\\write18{id}",
    "$",
    "%",
    "a & b # c ~ d ^ e _ f { g } ^^5cinput",
    "[1] *",
    "two\nlines\r\nthree",
    "\u2028\u2029\x85",
    "abc\u202edcba\u2066x",
    "nul\x00 esc\x1b[31m del\x7f \x9b",
    "half\ud800 \udfff",
    "\ufffe\uffff",
    "_x0041_",
    "日本語 ö é ñ 🦒",
    "x" * 40_000,
)


def _use(labels: tuple[str, ...]) -> LabelUse:
    return make_label_use({text: 30.0 - position for position, text in enumerate(labels)}, "**")


def hostile_result() -> RunResult:
    """Every such text as a group, and several at every other place that data or files reach."""
    groups = []
    for position, text in enumerate(TEXTS):
        group = make_group(
            text,
            axis=text[:200],
            raters=position + 2,
            gai=make_outcome(1 + position / 10, "up", "**" if position % 3 == 0 else "*"),
            irr=make_outcome(-0.1, "down"),
            xrr=Outcome(None, reason=said(text[:300])),
        )
        groups.append(group)
    groups[0] = with_label_use(groups[0], _use(TEXTS[:-1]))
    groups[1] = with_label_use(groups[1], _use(TEXTS[:3]))
    dsi = tuple(
        DsiResult(
            (text[:200],), Group((text[:200],), (text,)), make_outcome(1.2, "up", "**"), 0.01, "nominal"
        )
        for text in TEXTS[:-1]
    )
    result = make_result(
        tuple(groups), dsi=dsi, warnings=TEXTS[:-1], statistics=("irr", "xrr", "gai"), strata=(TEXTS[0],)
    )
    files = tuple(FileFingerprint(text, 1, text) for text in TEXTS[:-1])
    data = replace(
        result.data, categories=TEXTS[:-1], label_counts=(1,) * (len(TEXTS) - 1), sha256=TEXTS[0], files=files
    )
    spec = RunSpec(
        DataSpec(item=TEXTS[0], rater=TEXTS[1], label=TEXTS[0], missing=TEXTS),
        AnalysisSpec(
            axes=tuple((text,) for text in TEXTS), statistics=("irr", "xrr", "gai"), strata=(TEXTS[22],)
        ),
    )
    return replace(result, data=data, spec=spec, code_version=TEXTS[20])
