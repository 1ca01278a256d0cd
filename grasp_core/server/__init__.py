"""A server: its HTTP API, who is let in, sign-ins, links, watches, webhooks."""
