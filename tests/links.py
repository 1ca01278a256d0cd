"""Links of the documents, and what they may lead to."""

import re


def targets(text: str) -> list[str]:
    """What the links of a document lead to."""
    return re.findall(r"\[[^\]]+\]\(([^)]+)\)", text)


def anchors(text: str) -> set[str]:
    """What links to a document may end with: its headings, and the rows that it names."""
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    of_heads = {re.sub(r"[^\w\- ]", "", head).lower().replace(" ", "-") for head in heads}
    return of_heads | set(named_rows(text))


def named_rows(text: str) -> list[str]:
    """Anchors of rows of tables, in their order."""
    return re.findall(r'<a id="([^"]+)"></a>', text)
