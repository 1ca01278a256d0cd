"""Size of the code to read: ``python tools/size.py``. It prints one line, as the last of `make lint`."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_NO_CODE = frozenset({"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER"})


def code_lines(source: str) -> int:
    """Count lines of code and signatures: without docstrings, comments, imports and blank lines."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    used = {
        line
        for token in tokens
        if tokenize.tok_name[token.type] not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(source)):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Import | ast.ImportFrom) or (text and isinstance(node.value.value, str)):  # type: ignore[attr-defined]
            used -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(used)


def main() -> None:
    """Print the line."""
    ours = [
        ROOT / "app.py",
        *(path for top in ("grasp_core", "pages") for path in (ROOT / top).rglob("*.py")),
    ]
    sources = [path.read_text(encoding="utf-8") for path in ours]
    lines = sum(source.count("\n") for source in sources)
    modules = sum(path.name != "__init__.py" for path in ours)
    tests = sum(path.read_text(encoding="utf-8").count("\n") for path in (ROOT / "tests").rglob("*.py"))
    docs = sum(path.read_text(encoding="utf-8").count("\n") for path in (ROOT / "docs").glob("*.md"))
    root = sum(
        (path.is_dir() and (path / "__init__.py").exists()) or path.suffix in (".py", ".typed")
        for path in (ROOT / "grasp_core").iterdir()
    )
    code = sum(map(code_lines, sources))
    print(
        f"{lines:,} lines, {code:,} of them code and signatures, in {modules} modules; "
        f"{root} entries at the root of grasp_core; tests {tests:,} lines, docs {docs:,}"
    )


if __name__ == "__main__":
    main()
