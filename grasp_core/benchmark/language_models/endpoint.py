"""A language model behind an address with an API like OpenAI's."""

import importlib
import logging
import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

from grasp_core.benchmark.language_models.model import FLOOR, ModelAnswer, ModelError, Tokenizer
from grasp_core.benchmark.language_models.prompt import ApproximateTokens
from grasp_core.model.errors import SpecError
from grasp_core.model.extras import require
from grasp_core.model.remarks.benchmark import ModelProblem
from grasp_core.model.remarks.remark import Value
from grasp_core.model.settings import kept_secret
from grasp_core.model.text import quoted


def checked(url: str) -> str:
    """Return the host of an endpoint's address; refuse unusable addresses."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        raise SpecError("The endpoint must be an address such as http://localhost:8000/v1 or https://...")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise SpecError(
            "The endpoint's address must hold no name, password or query: put the key into an environment "
            "variable and name that with --key-variable"
        )
    return host


def key_for(variable: str | None, url: str) -> str:
    """Return the key from an environment variable; without one, a dummy that the library insists on."""
    if variable is None:
        return "unused"
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
        raise SpecError("--key-variable takes the name of an environment variable, not the key itself")
    key = os.environ.get(variable, "").strip()
    if not key:
        raise SpecError(f"The environment variable {variable} is empty: put the endpoint's key there")
    if not (key.isascii() and key.isprintable()):
        raise SpecError(f"The environment variable {variable} holds no key: there are characters no key has")
    if not kept_secret(url):
        raise SpecError(
            f"The key in {quoted(variable)} would be sent unencrypted: take an address with https://"
        )
    return key


OPENAI_HOST = "api.openai.com"
_REFUSED = {
    400: ModelProblem.REFUSED_QUESTION,
    401: ModelProblem.REFUSED_KEY,
    403: ModelProblem.REFUSED_MODEL,
    404: ModelProblem.NO_SUCH_MODEL,
    422: ModelProblem.REFUSED_LOGPROBS,
    429: ModelProblem.TOO_MANY_QUESTIONS,
}


class EndpointTokenizer(Tokenizer, Protocol):
    """Tokens that may know the first token of a text."""

    @property
    def name(self) -> str:
        """Identity of these tokens."""

    def first(self, text: str) -> int | None:
        """Return the number of the text's first token, or None if it is unknown."""


class Endpoint:
    """A model behind an address.

    `url`: up to and with the version, e.g. ``http://localhost:8000/v1``.
    `key_variable`: environment variable with the key. It is read for each client and stored nowhere else.
        Without it, OPENAI_API_KEY is read for OpenAI's own address, and no other address is sent a key.
    `tokens`: the model's tokens; without them an estimate (`ApproximateTokens`).
    `window`: tokens that prompt and answer may have together.
    `top`: likeliest tokens that the endpoint is asked to name. OpenAI names at most 5; the paper had 100.
    `retries`: attempts after a first failure; the endpoint sets the wait (Retry-After), or it grows.
    `chat`: True if it is asked as a chat: the class that it writes then has probability 1.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key_variable: str | None = None,
        tokens: EndpointTokenizer | None = None,
        window: int = 2048,
        top: int = 5,
        timeout_s: float = 60.0,
        retries: int = 5,
        parallel: int = 1,
        chat: bool = False,
    ) -> None:
        host = checked(url)
        if not model or window < 1 or top < 1 or timeout_s <= 0 or retries < 0 or parallel < 1:
            raise SpecError("An endpoint needs a model's name, and positive numbers in its options")
        if key_variable is None and host == OPENAI_HOST:
            key_variable = "OPENAI_API_KEY"
        self._tokens = tokens or ApproximateTokens()
        self._variable, self._model, self._top = key_variable, model, top
        self._timeout_s, self._url = timeout_s, url
        self._chat = chat
        how = "chat" if chat else f"top {top}"
        self.name = f"{model} at {url}, {how}, {self._tokens.name}"
        self.window, self.parallel = window, parallel
        require("An endpoint", "models", "openai")
        self._openai: Any = importlib.import_module("openai")
        logging.getLogger("openai").setLevel(logging.WARNING)  # at level DEBUG it would log the prompts
        key = key_for(key_variable, url)
        # No redirects: key and prompts must not go to an address that nobody named.
        straight = self._openai.DefaultHttpxClient(timeout=timeout_s, follow_redirects=False)
        self._client = self._openai.OpenAI(
            api_key=key, base_url=url, timeout=timeout_s, max_retries=retries, http_client=straight
        )

    def count(self, text: str) -> int:
        """Count the tokens of the text."""
        return self._tokens.count(text)

    def cut(self, text: str, tokens: int) -> str:
        """Return the text's start."""
        return self._tokens.cut(text, tokens)

    def next_token_logprobs(self, prompt: str, candidates: Sequence[str]) -> ModelAnswer:
        """Return how likely each candidate's first token is; in a chat, the one written is certain."""
        openai = self._openai
        try:
            plain = (self._talk if self._chat else self._complete)(prompt).http_response.json()
        except openai.APITimeoutError:
            raise self._error(
                ModelProblem.NO_ANSWER_IN_TIME, passing=True, seconds=float(self._timeout_s)
            ) from None
        except openai.APIConnectionError:
            raise self._error(ModelProblem.OUT_OF_REACH, passing=True) from None
        except openai.APIStatusError as error:
            raise self._refused(error.status_code) from None
        except (ValueError, RecursionError):
            raise self._error(ModelProblem.ANSWER_NO_JSON, passing=True) from None
        except openai.OpenAIError as error:  # only the type, because a message may repeat the prompt
            raise self._error(ModelProblem.CANNOT_BE_ASKED, error=type(error).__name__) from None
        return self._answer(plain, prompt, candidates)

    def _complete(self, prompt: str) -> Any:
        return self._client.completions.with_raw_response.create(
            model=self._model, prompt=prompt, max_tokens=1, temperature=0, logprobs=self._top
        )

    def _talk(self, prompt: str) -> Any:
        messages = [{"role": "system", "content": _ASKED}, {"role": "user", "content": prompt}]
        return self._client.chat.completions.with_raw_response.create(
            model=self._model, messages=messages, max_tokens=_MOST_WRITTEN, temperature=0
        )

    def close(self) -> None:
        """End the connections."""
        self._client.close()

    def _refused(self, status: int) -> ModelError:
        if 300 <= status < 400:
            return self._error(ModelProblem.POINTS_ELSEWHERE, status=status)
        passing = status == 429 or status >= 500
        return self._error(_REFUSED.get(status, ModelProblem.REFUSED), passing=passing, status=status)

    def _answer(self, plain: Any, prompt: str, candidates: Sequence[str]) -> ModelAnswer:
        sums = [0.0] * len(candidates)
        if self._chat:
            written = _written(self._said(plain), candidates)
            if written is not None:
                sums[written] = 1.0
        else:
            for token, logprob in self._named(plain).items():
                for position in self._matching(token, candidates):
                    sums[position] += math.exp(min(logprob, 0.0))
        logprobs = tuple(max(math.log(value), FLOOR) if value > 0 else FLOOR for value in sums)
        usage = plain.get("usage")
        used = usage if isinstance(usage, dict) else {}
        return ModelAnswer(
            logprobs,
            (0 if any(sums) else len(sums)) if self._chat else sum(value == 0 for value in sums),
            _whole(used.get("prompt_tokens"), self.count(prompt)),
            _whole(used.get("completion_tokens"), 1),
        )

    def _said(self, plain: Any) -> str:
        """Return a chat's answer."""
        try:
            said = plain["choices"][0]["message"]["content"]
        except (TypeError, KeyError, IndexError):
            said = None
        if not isinstance(said, str):
            raise self._error(ModelProblem.NO_TEXT)
        return said

    def _named(self, plain: Any) -> Mapping[str, float]:
        """Return the tokens that the endpoint names for the next place, with their log-probabilities."""
        try:
            named = plain["choices"][0]["logprobs"]["top_logprobs"][0]
        except (TypeError, KeyError, IndexError):
            named = None
        if not isinstance(named, dict) or not named:
            raise self._error(ModelProblem.NO_LOGPROBS)
        try:
            numbers = {token: float(value) for token, value in named.items()}
        except (TypeError, ValueError, OverflowError):
            numbers = {"": math.nan}
        if any(math.isnan(value) for value in numbers.values()):
            raise self._error(ModelProblem.LOGPROBS_NO_NUMBERS)
        return numbers

    def _matching(self, token: str, candidates: Sequence[str]) -> list[int]:
        """Return positions of the candidates that begin with the token.

        The tokens' numbers decide if they are known, as in the paper's code. Otherwise the text does: a token
        that is a whole candidate belongs to it alone, any other one to all candidates that start with it.
        """
        first = self._tokens.first(token)
        if first is not None:
            return [at for at, text in enumerate(candidates) if self._tokens.first(text) == first]
        whole = [at for at, text in enumerate(candidates) if text == token]
        if whole or not token.strip():
            return whole
        return [at for at, text in enumerate(candidates) if text.startswith(token)]

    def _error(self, code: ModelProblem, *, passing: bool = False, **numbers: Value) -> ModelError:
        own: dict[str, Value] = {"url": self._url, "variable": self._variable or "", "options": 1}
        taken = {name: value for name, value in own.items() if name in code.places}
        return ModelError(code(**taken, **numbers), passing=passing)


_ASKED = "Answer with one of the possible labels, word for word as it is listed, and with nothing else."
_MOST_WRITTEN = 64
"""Most tokens of a chat's answer."""


def _written(said: str, candidates: Sequence[str]) -> int | None:
    """Return the position of the candidate that an answer is, begins with, or alone contains; else None."""
    text = " ".join(said.split()).strip(" \"'`*.").casefold().removeprefix("label:").strip(" \"'`*.")
    names = [" ".join(name.split()).casefold() for name in candidates]
    if text in names:
        return names.index(text)
    starting = [at for at, name in enumerate(names) if re.match(rf"{re.escape(name)}(?!\w)", text)]
    if starting:
        return max(starting, key=lambda at: len(names[at]))
    within = [at for at, name in enumerate(names) if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    whole = [at for at in within if not any(names[at] in names[other] for other in within if other != at)]
    return whole[0] if len(whole) == 1 else None


def _whole(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else otherwise
