"""A question about models for the tests of the engine, and its answer without the clock."""

from dataclasses import replace

from grasp_core.analysis.models.labels import read_model, sources
from grasp_core.engine.watching import Checkpoints
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.sandbox.read import read_table
from tests.engine.asking import DATA as PLAIN
from tests.engine.asking import answer_of
from tests.permutation.simulated import DATA_SPEC

GIVEN = {
    f"{name}.csv": "\n".join(["ID,Label", *lines]).encode()
    for name, lines in {
        "always 0": [f"i{i},label 0" for i in range(30)],
        "in turn": [f"i{i},label {i % 3}" for i in range(0, 30, 2)],
    }.items()
}
MODELS = tuple(
    read_model(read_table(content, name), name.removesuffix(".csv"), PLAIN, DATA_SPEC)
    for name, content in GIVEN.items()
)
DATA = replace(PLAIN, models=MODELS)


def question(**analysis) -> RunSpec:
    asked = AnalysisSpec(**{"axes": (("gender",), ("race",)), "permutations": 1000, **analysis})
    return RunSpec(DATA_SPEC, asked, models=sources(MODELS))


def answer(make_executor, n_workers: int, checkpoints: Checkpoints | None = None, **analysis) -> dict:
    return answer_of(DATA, question(**analysis), make_executor, n_workers, checkpoints)
