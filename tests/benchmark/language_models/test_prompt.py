"""Whole prompts, written out by hand in the form of github.com/oughtinc/raft-baselines, example_prompts."""

from __future__ import annotations

from dataclasses import replace

from grasp_core.benchmark.language_models.prompt import fit, words
from tests.benchmark.language_models.making import TASK, WordModel, text

EXAMPLES = [(text("Sun", "the sun is out"), "no"), (text("Tea", "please bring tea"), "yes")]
TARGET = text("Bread", "please bring bread")


def test_a_whole_prompt() -> None:
    assert fit(WordModel(), TASK, TARGET, EXAMPLES).text == (
        "Decide whether the text asks for something.\n"
        "Possible labels:\n"
        "1. yes\n"
        "2. no\n"
        "\n"
        "Text: the sun is out\n"
        "Title: Sun\n"
        "Label: no\n"
        "\n"
        "Text: please bring tea\n"
        "Title: Tea\n"
        "Label: yes\n"
        "\n"
        "Text: please bring bread\n"
        "Title: Bread\n"
        "Label:"
    )


def test_without_instructions_the_classes_are_still_named() -> None:
    prompt = fit(WordModel(), TASK, TARGET, [], instructions=False)
    assert prompt.text == (
        "Possible labels:\n1. yes\n2. no\n\nText: please bring bread\nTitle: Bread\nLabel:"
    )


def test_numbers_go_before_names_where_the_task_says_so() -> None:
    numeric = replace(TASK, numeric=True)
    prompt = fit(WordModel(), numeric, TARGET, EXAMPLES[:1]).text
    assert prompt.endswith(
        "\n\nText: the sun is out\nTitle: Sun\nLabel: 2. no\n\nText: please bring bread\nTitle: Bread\nLabel:"
    )
    assert words(numeric) == (" 1", " 2")
    assert words(TASK) == (" yes", " no")


def test_empty_fields_are_left_out_and_a_row_without_any_keeps_its_label_line() -> None:
    half, none = text(" ", "rain"), text("", "\n")
    prompt = fit(WordModel(), TASK, none, [(half, "no"), (none, "yes")]).text
    assert prompt.endswith("2. no\n\nText: rain\nLabel: no\n\n\nLabel: yes\n\n\nLabel:")


def test_line_ends_within_a_text_stay() -> None:
    prompt = fit(WordModel(), TASK, text("A", "one\ntwo"), []).text
    assert prompt.endswith("\n\nText: one\ntwo\nTitle: A\nLabel:")
