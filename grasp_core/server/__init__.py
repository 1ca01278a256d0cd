"""A server: its HTTP API, admission of requests, sign-ins, links, watches, webhooks."""
