"""Tokens of a real tokenizer file, made here, and the estimate without one."""

from __future__ import annotations

import math
from contextlib import closing
from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from grasp_core.benchmark.language_models.endpoint import Endpoint
from grasp_core.benchmark.language_models.model import FLOOR
from grasp_core.benchmark.language_models.prompt import ApproximateTokens, FileTokens, shortened
from grasp_core.model.errors import DataError
from tests.benchmark.language_models.completions_server import serving

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


def test_with_known_tokens_classes_are_compared_by_their_first_one(tokens: FileTokens) -> None:
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


def test_tokens_of_one_class_add_up() -> None:
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


def test_without_the_library_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(DataError, match="needs the package tokenizers: pip install"):
        FileTokens(tmp_path / "tokenizer.json")
