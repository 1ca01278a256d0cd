"""Why a language model gave no answer that can be used; without texts and keys."""

from __future__ import annotations

from enum import unique

from grasp_core.remarks.remark import Code

_REFUSED = "The endpoint {url} refused with status {status:d}"
_KEY = "the key in the environment variable {variable}{variable:!(none; --key-variable names one)}"


@unique
class ModelProblem(Code):
    """Why a model gave no answer; where `options` is 0, options of the command line are not named."""

    PROMPT_TOO_LONG = "A prompt has {tokens} tokens, more than the model's window"
    NO_ANSWER_IN_TIME = "The endpoint {url} did not answer within {seconds:g} seconds"
    OUT_OF_REACH = "The endpoint {url} cannot be reached; check the address and that it is running"
    POINTS_ELSEWHERE = (
        "The endpoint {url} points to another address (status {status:d}), which is not asked: name it"
    )
    CANNOT_BE_ASKED = "The endpoint {url} cannot be asked ({error})"
    ANSWER_NO_JSON = "The endpoint {url} answered something that is no JSON"
    NO_LOGPROBS = (
        "The endpoint {url} answered without log-probabilities; "
        "take a model that gives `top_logprobs` for completions"
    )
    LOGPROBS_NO_NUMBERS = "The endpoint {url} answered log-probabilities that are no numbers"
    REFUSED = _REFUSED
    REFUSED_QUESTION = (
        _REFUSED + ": it may want fewer log-probabilities{options:? (--top-logprobs)} "
        "or a shorter prompt{options:? (--window)}"
    )
    REFUSED_KEY = _REFUSED + f": {_KEY} is missing or not accepted"
    REFUSED_MODEL = _REFUSED + f": {_KEY} may not use this model"
    NO_SUCH_MODEL = _REFUSED + ": it knows no such model, or has no completions at this address"
    REFUSED_LOGPROBS = (
        _REFUSED + ": it may want fewer log-probabilities{options:? (--top-logprobs)}, "
        "or not offer completions"
    )
    TOO_MANY_QUESTIONS = _REFUSED + ": too many questions were asked, or the account is used up"
