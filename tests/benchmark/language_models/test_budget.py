"""How the window is shared out."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.benchmark.language_models.prompt import (
    RESERVED,
    SEPARATOR,
    ApproximateTokens,
    fit,
    head,
    shortened,
    shown,
)
from grasp_core.benchmark.tasks import builtin_tasks
from grasp_core.model.errors import DataError
from tests.benchmark.language_models.making import TASK, WordModel, text

LONG = " ".join(["w"] * 400)


class BytesModel(WordModel):
    """Tokens that run on across lines and words: the parts' counts do not add up to the whole's."""

    count = ApproximateTokens.count
    cut = ApproximateTokens.cut
    BYTES = 3


def test_shares_are_those_of_the_paper() -> None:
    # By hand. The head has 20 tokens: the instructions 8, "Possible labels :" 3, "1 . yes" and "2 . no" 3
    # each, 3 line ends. Of the window's 211, 211 - 11 - 20 - 2 * 4 = 172 are for 3 examples and the target,
    # which may have a quarter, 43; the examples int((172 - 43) / 3) = 43 each. "Label :" takes 2 tokens,
    # "Label : no" 3, a line end 1; what is left is text: 40 and 39 tokens, of which "Text :" is 2.
    model = WordModel(211)
    prompt = fit(model, TASK, text("", LONG), [(text("", LONG), "no")] * 3)
    assert model.count(head(TASK)) == 20
    *examples, target = prompt.text.split(SEPARATOR)[1:]
    assert [model.count(example) for example in examples] == [43, 43, 43]
    assert model.count(target) == 43
    assert target.count("w") == 38
    assert examples[0].count("w") == 37


def test_what_the_target_does_not_need_goes_to_the_examples() -> None:
    model = WordModel(211)
    prompt = fit(model, TASK, text("", "w"), [(text("", LONG), "no")] * 3)
    *examples, target = prompt.text.split(SEPARATOR)[1:]
    assert target == "Text: w\nLabel:"
    assert {model.count(example) for example in examples} == {(172 - 6) // 3}


def test_one_example_leaves_the_target_half() -> None:
    model = WordModel(RESERVED + 20 + 4 + 100)
    prompt = fit(model, TASK, text("", LONG), [(text("", LONG), "no")])
    assert [model.count(part) for part in prompt.text.split(SEPARATOR)[1:]] == [50, 50]


def test_without_examples_the_target_has_all() -> None:
    model = WordModel(RESERVED + 20 + 2 + 100)
    prompt = fit(model, TASK, text("", LONG), [])
    assert model.count(prompt.text.split(SEPARATOR)[1]) == 100


def test_a_text_that_fits_is_not_cut() -> None:
    target = text("Tea", "please bring tea")
    assert fit(WordModel(), TASK, target, []).text.endswith(f"{shown(TASK, target)}\nLabel:")


def test_a_window_too_small_for_the_classes() -> None:
    with pytest.raises(DataError, match=r"77 classes of banking_77 need a window of .* this model's has 512"):
        fit(BytesModel(512), builtin_tasks()["banking_77"], {"Query": "x"}, [])


WORDS = st.text(st.sampled_from("ab \n.é漢"), max_size=300)


@given(
    texts=st.lists(st.tuples(WORDS, st.sampled_from(TASK.classes)), max_size=12),
    target=WORDS,
    window=st.integers(40, 400),
    model=st.sampled_from([WordModel, BytesModel]),
)
def test_no_prompt_is_above_the_window_and_label_lines_are_kept(
    texts: list[tuple[str, str]], target: str, window: int, model: type[WordModel]
) -> None:
    made = model(window)
    examples = [(text("", words), label) for words, label in texts]
    try:
        prompt = fit(made, TASK, text("", target), examples)
    except DataError:
        assert made.count(head(TASK) + SEPARATOR + "\nLabel:") + 2 > window
        return
    assert made.count(prompt.text) + 1 <= window
    assert prompt.text.endswith("\nLabel:")
    kept = re.findall(r"^Label: (\w+)$", prompt.text, re.MULTILINE)
    assert kept == [label for _, label in texts][prompt.left_out :]
    assert prompt.examples + prompt.left_out == len(texts)


@given(words=WORDS, limit=st.integers(-1, 60), model=st.sampled_from([WordModel, BytesModel]))
def test_a_cut_text_is_a_start_of_the_text_within_the_limit(
    words: str, limit: int, model: type[WordModel]
) -> None:
    made = model()
    cut = shortened(made, words, limit)
    assert words.startswith(cut)
    assert made.count(cut) <= max(limit, 0)
    if limit > 0 and made.count(words) <= limit:
        assert cut == words
