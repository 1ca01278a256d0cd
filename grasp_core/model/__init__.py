"""Values that all other packages use: annotations, raters, groups, specs, results, roles, errors."""
