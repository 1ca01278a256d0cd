"""The few looks that the theme in .streamlit/config.toml cannot set."""

from __future__ import annotations

import streamlit as st

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'
    '<path fill="#006D4E" d="M12 1 23 12 12 23 1 12Z"/>'
    '<path stroke="#FFF" stroke-width="2" fill="none" d="M6 14q6-12 12 0"/></svg>'
)
"""Inline, because Streamlit fetches a named icon from another server."""
BESIDE = "beside"
"""Key of short sections beside a chart."""
ROLE = "role"
"""How keys of columns of a file begin whose tint says what they hold."""
ALWAYS_THERE = "always-there"
"""Key of what stays at the foot of the window while the page above it moves."""
ON_SCREENS, ON_PHONES = "on-screens", "on-phones"
"""How keys of two forms of one table begin, of which a page shows one."""
VERDICTS = "verdicts"
"""How keys of the chart of verdicts end: its wide form has texts beside its marks, and needs more room."""
PROVISIONAL = "provisional"
"""Key of what is drawn of a run that goes on: it has no files, nor have its tables and charts."""
SIGN_OUT_FORM = "grasp-sign-out"
"""Class of the form that signs out; its button looks like Streamlit's, which cannot send a form."""

_TINTS = {"item": "#3B6FD6", "rater": "#0A8A5F", "label": "#D98A00", "known": "#8A4FC8", "others": "#808080"}
_STYLE = f"""
[data-testid="stMainBlockContainer"] {{ padding-top: 4.5rem; }}
[data-testid="stMainBlockContainer"] h1 {{ padding-top: 0; }}
[data-testid="stMultiSelect"] [data-tag] {{
  background: transparent; border: 1px solid currentColor; color: inherit;
}}
/* A chart's code is of use to nobody here: each has its files in a menu below it. */
[data-testid="stElementToolbar"] button[aria-label="Copy Vega-Lite spec"] {{ display: none; }}
[class*="st-key-wide-"] {{ overflow-x: auto; }}
[class*="st-key-wide-"] [data-testid="stVegaLiteChart"] {{ min-width: 680px; }}
.st-key-{BESIDE} h2 {{ font-size: 1rem; padding: 0; }}
.st-key-{ROLE}s {{ align-items: stretch; }}
[class*="st-key-{ROLE}-"] {{ padding: 0.5rem 0.75rem; }}
div:has(> .st-key-{ALWAYS_THERE}) {{ position: sticky; bottom: 0; z-index: 10; }}
.st-key-{ALWAYS_THERE} {{
  padding: 0.75rem 0; border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent);
  background: Canvas; background: light-dark(#FFFFFF, #12181A);
}}
[class*="st-key-{ON_PHONES}-"] {{ display: none; }}
@media (max-width: 640px) {{
  [class*="st-key-{ON_SCREENS}-"] {{ display: none; }}
  [class*="st-key-{ON_PHONES}-"] {{ display: flex; }}
}}
@media (max-width: 1200px) {{
  .st-key-{ON_SCREENS}-{VERDICTS} {{ display: none; }}
  .st-key-{ON_PHONES}-{VERDICTS} {{ display: flex; }}
}}
.st-key-{PROVISIONAL} [data-testid="stElementToolbar"] {{ display: none; }}
.{SIGN_OUT_FORM} button {{
  font: inherit; font-size: 0.875rem; color: inherit; background: transparent;
  min-height: 2.5rem; padding: 0.25rem 0.75rem;
  border: 1px solid color-mix(in srgb, currentColor 40%, transparent); border-radius: 0.5rem; cursor: pointer;
}}
.{SIGN_OUT_FORM} button:hover, .{SIGN_OUT_FORM} button:focus-visible {{ border-color: currentColor; }}
""" + "".join(
    f'[class*="st-key-{ROLE}-{role}"] {{ background: color-mix(in srgb, {tint} 9%, transparent); }}'
    for role, tint in _TINTS.items()
)
_BUTTONS_IN_DARK = """
[data-testid^="stBaseButton-primary"], [data-testid^="stBaseButton-primary"]:hover { color: #12181A; }
"""


def mend() -> None:
    """On a narrow page wide charts scroll; dark text on the dark theme's light green, not white."""
    dark = st.context.theme.type == "dark"
    scheme = f".st-key-{ALWAYS_THERE} {{ color-scheme: {'dark' if dark else 'light'}; }}"
    st.html(f"<style>{_STYLE}{scheme}{_BUTTONS_IN_DARK if dark else ''}</style>")
