"""A choice of one name that starts from a guess and lasts for the visit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st


def choose_one(
    label: str,
    options: Sequence[str],
    start: str | None,
    *,
    key: str,
    placeholder: str,
    more: str | None = None,
    named: Callable[[str], str] = str,
) -> str | None:
    """The name chosen; None where nothing is.

    Parameters
    ----------
    start : str or None
        What is chosen at first, if it is one of the options.
    placeholder : str
        Shown while nothing is chosen.
    more : str, optional
        Help.
    named : callable
        How an option is shown.
    """
    chosen: str | None = st.selectbox(
        label,
        options,
        index=list(options).index(start) if start in options else None,
        format_func=named,
        placeholder=placeholder,
        key=key,
        persist_state="session",
        help=more,
    )
    return chosen
