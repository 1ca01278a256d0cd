"""The HTTP API: programs do what people do on the pages. docs/api.md describes all of it."""
