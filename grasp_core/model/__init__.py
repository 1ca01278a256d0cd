"""Values that everything else is about: annotations, raters, groups, specs, results, roles, errors."""
