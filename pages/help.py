import re
from pathlib import Path

import streamlit as st

from pages._ui.helpers.screens import BEFORE_HELP

_DOCS = Path(__file__).resolve().parents[1] / "docs"
_PARTS = {
    "using": "From files to an answer",
    "results": "Reading results",
    "formats": "Files that are read",
    "quality": "Quality of the data",
    "planning": "Planning the next study",
    "models": "Models and the benchmark",
    "watching": "Watching files",
    "projects": "Projects and people",
    "privacy": "Privacy",
    "methods": "Methods",
    "python": "From Python",
}
_OF_SCREEN = {
    "data": "formats",
    "results": "results",
    "plan": "planning",
    "models": "models",
    "watch": "watching",
    "projects": "projects",
    "people": "projects",
    "account": "privacy",
}
_LINK = re.compile(r"(?<!!)\[([^]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)")
_IMAGE, _ANCHOR, _MATH = r"!\[[^]]*\]\([^)]*\)", r"<a id=\"[^\"]*\"></a>", r"```math\n(.*?)```"


def _linked(found: re.Match[str]) -> str:
    label, file, place = found[1], found[2].removesuffix(".md"), found[3] or ""
    if not file:
        return f"[{label}]({place})"
    return f"[{label}](help?of={file}{place})" if file in _PARTS else label


came_from = st.session_state.get(BEFORE_HELP, "")
asked = st.query_params.get("of", _OF_SCREEN.get(came_from, "using"))
part = asked if asked in _PARTS else "using"
st.title(_PARTS[part])
with st.container(horizontal=True):
    for name, called in _PARTS.items():
        if name != part:
            st.page_link("help.py", label=called, query_params={"of": name})
text = (_DOCS / f"{part}.md").read_text(encoding="utf-8").partition("\n")[2]
text = re.sub(f"{_IMAGE}|{_ANCHOR}", "", text)  # Streamlit's Markdown cannot show these images
text = re.sub(_MATH, lambda found: f"$$\n{found[1]}$$", text, flags=re.DOTALL)
st.markdown(_LINK.sub(_linked, text))
