"""Files fetched from tools and databases, once and again."""
