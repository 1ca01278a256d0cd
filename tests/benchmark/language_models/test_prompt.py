"""Whole prompts, in the form of github.com/oughtinc/raft-baselines, example_prompts; the window; tokens."""

import math
import re
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from grasp_core.benchmark.language_models.endpoint import Endpoint
from grasp_core.benchmark.language_models.model import FLOOR
from grasp_core.benchmark.language_models.prompt import (
    RESERVED,
    SEPARATOR,
    ApproximateTokens,
    FileTokens,
    fit,
    head,
    shortened,
    shown,
    words,
)
from grasp_core.benchmark.tasks import builtin_tasks
from grasp_core.model.errors import DataError
from tests.benchmark.language_models.completions_server import serving
from tests.benchmark.language_models.making import TASK, WordModel, text

EXAMPLES = [(text("Sun", "the sun is out"), "no"), (text("Tea", "please bring tea"), "yes")]
TARGET = text("Bread", "please bring bread")


def test_a_whole_prompt_with_numbers_before_names_where_the_task_says_so() -> None:
    assert fit(WordModel(), TASK, TARGET, EXAMPLES).text == (
        "Decide whether the text asks for something.\n"
        "Possible labels:\n1. yes\n2. no\n\n"
        "Text: the sun is out\nTitle: Sun\nLabel: no\n\n"
        "Text: please bring tea\nTitle: Tea\nLabel: yes\n\n"
        "Text: please bring bread\nTitle: Bread\nLabel:"
    )
    numeric = replace(TASK, numeric=True)
    prompt = fit(WordModel(), numeric, TARGET, EXAMPLES[:1]).text
    assert prompt.endswith(
        "\n\nText: the sun is out\nTitle: Sun\nLabel: 2. no\n\nText: please bring bread\nTitle: Bread\nLabel:"
    )
    assert words(numeric) == (" 1", " 2")
    assert words(TASK) == (" yes", " no")


def test_without_instructions_classes_are_named_line_ends_stay_and_empty_fields_go() -> None:
    prompt = fit(WordModel(), TASK, TARGET, [], instructions=False)
    assert prompt.text == (
        "Possible labels:\n1. yes\n2. no\n\nText: please bring bread\nTitle: Bread\nLabel:"
    )
    prompt = fit(WordModel(), TASK, text("A", "one\ntwo"), []).text
    assert prompt.endswith("\n\nText: one\ntwo\nTitle: A\nLabel:")
    half, none = text(" ", "rain"), text("", "\n")
    prompt = fit(WordModel(), TASK, none, [(half, "no"), (none, "yes")]).text
    assert prompt.endswith("2. no\n\nText: rain\nLabel: no\n\n\nLabel: yes\n\n\nLabel:")


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
    fits = text("Tea", "please bring tea")
    assert fit(WordModel(), TASK, fits, []).text.endswith(f"{shown(TASK, fits)}\nLabel:")


@pytest.mark.parametrize(("examples", "counts"), [(0, [100]), (1, [50, 50])])
def test_the_target_has_all_and_beside_one_example_half(examples: int, counts: list[int]) -> None:
    model = WordModel(RESERVED + 20 + 2 * len(counts) + 100)
    prompt = fit(model, TASK, text("", LONG), [(text("", LONG), "no")] * examples)
    assert [model.count(part) for part in prompt.text.split(SEPARATOR)[1:]] == counts


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
def test_no_prompt_is_above_the_window_and_label_lines_are_kept(texts, target, window, model) -> None:
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
def test_a_cut_text_is_a_start_of_the_text_within_the_limit(words, limit, model) -> None:
    made = model()
    cut = shortened(made, words, limit)
    assert words.startswith(cut)
    assert made.count(cut) <= max(limit, 0)
    if limit > 0 and made.count(words) <= limit:
        assert cut == words


# Tokens of a real tokenizer file, made here, and the estimate without one
SENTENCE = "please bring tea, the naïve sun – 漢字 is not related; "


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> FileTokens:
    """Byte-pair tokens as GPT-2 has them, learnt from one sentence."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator([SENTENCE * 20], trainer)
    path = tmp_path_factory.mktemp("tokens") / "tokenizer.json"
    tokenizer.enable_truncation(4)  # files often come with it; a count must not stop there
    tokenizer.save(str(path))
    return FileTokens(path)


def test_words_that_were_learnt_are_one_token(tokens: FileTokens) -> None:
    assert tokens.count(" tea") == 1
    assert tokens.count("please bring tea") == 3
    assert tokens.count("") == 0
    assert tokens.count(SENTENCE * 3) > 4
    assert tokens.cut("please bring tea", 2) == "please bring"
    assert tokens.cut("please bring tea", 0) == ""
    assert tokens.first(" not related") == tokens.first(" not")
    assert tokens.first("") is None


@pytest.mark.parametrize("limit", range(30))
def test_cuts_hold(tokens: FileTokens, limit: int) -> None:
    for counted in (tokens, ApproximateTokens()):
        cut = shortened(counted, SENTENCE, limit)
        assert SENTENCE.startswith(cut)
        assert counted.count(cut) <= limit


def test_an_estimate_is_a_token_for_three_bytes() -> None:
    tokens = ApproximateTokens()
    assert [tokens.count(text) for text in ("", "a", "abc", "abcd", "漢字")] == [0, 1, 1, 2, 2]
    assert tokens.cut("漢字", 1) == "漢"
    assert tokens.cut("aé漢", 1) == "aé"
    assert tokens.cut("ab漢", 1) == "ab"  # no half of a character


def test_with_known_tokens_classes_are_compared_by_their_first_one_and_those_of_one_add_up(tokens) -> None:
    candidates = (" related", " not related")
    with serving() as server:
        server.top = lambda _: {" not": -0.5, " r": -0.1, " related": -2.0}
        with closing(Endpoint(server.url, "m", tokens=tokens)) as model:
            answer = model.next_token_logprobs("Label:", candidates)
    assert answer.logprobs == pytest.approx((-2.0, -0.5))  # " r" is a token of its own, and no class's first
    with serving() as server:
        server.top = lambda _: {" r": -0.1, "tea": -0.2}
        with closing(Endpoint(server.url, "m", tokens=tokens)) as model:
            assert model.next_token_logprobs("Label:", candidates).logprobs == (FLOOR, FLOOR)
        with closing(Endpoint(server.url, "m")) as model:
            assert model.next_token_logprobs("Label:", candidates).logprobs == (pytest.approx(-0.1), FLOOR)
    with serving() as server:
        server.top = lambda _: {" rel": math.log(0.2), " related": math.log(0.3)}
        with closing(Endpoint(server.url, "m")) as model:
            answer = model.next_token_logprobs("Label:", (" related", " not related"))
    assert answer.logprobs == (pytest.approx(math.log(0.5)), FLOOR)


@pytest.mark.parametrize("content", [b"", b"{}", b"ID,Label\n", b"\xff\xfe"])
def test_a_file_that_is_no_tokenizer(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"tokenizer\.json is no tokenizer\.json; take the one of the model"):
        FileTokens(path)
    with pytest.raises(DataError, match="cannot be read"):
        FileTokens(tmp_path / "missing.json")


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(DataError, match="needs the package tokenizers: pip install"):
        FileTokens(tmp_path / "tokenizer.json")
