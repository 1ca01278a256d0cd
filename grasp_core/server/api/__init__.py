"""The HTTP API: what people do on the pages, for programs. docs/api.md tells all of it."""
