"""The OpenAPI schema: what FastAPI finds, with the problems and the token that all addresses share."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from grasp_core.web.api.forms import Problem

_REFERENCE = "#/components/schemas/{model}"
_REFUSED = {
    "description": "Why not",
    "content": {"application/problem+json": {"schema": {"$ref": _REFERENCE.format(model="Problem")}}},
}


def described(app: FastAPI) -> dict[str, Any]:
    """The schema of an application, made once."""
    if app.openapi_schema is None:
        app.openapi_schema = _made(app)
    return app.openapi_schema


def _made(app: FastAPI) -> dict[str, Any]:
    plain = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    problem = Problem.model_json_schema(ref_template=_REFERENCE)
    components = plain.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas.update({**problem.pop("$defs", {}), "Problem": problem})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    components["securitySchemes"] = {
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "A personal token from Account, or to look at what was shared, a share link's.",
        }
    }
    plain["security"] = [{"token": []}]
    for operations in plain["paths"].values():
        for operation in operations.values():
            operation["responses"].pop("422", None)
            operation["responses"]["4XX"] = operation["responses"]["5XX"] = _REFUSED
    return plain
