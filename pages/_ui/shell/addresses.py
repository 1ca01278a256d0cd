"""Addresses to hand on."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from grasp_core.server import server


def address(screen: str, **query: str) -> str:
    """Of a screen, as people outside reach it: under the public address, else as this browser does."""
    base = server.shared().settings.public_url or (st.context.url or "").rpartition("/")[0]
    return f"{base.rstrip('/')}/{screen}?{urlencode(query)}"
