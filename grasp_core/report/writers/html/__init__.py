"""A result as an HTML report: `page` puts it together, the other modules write its sections."""
