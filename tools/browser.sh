#!/usr/bin/env bash
# Print the path of a Chromium or Chrome for the browser tests; install one if none is found.
# An empty line means Playwright's own. GRASP_CHROMIUM=/path/to/chromium chooses.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/lib.sh

# Snaps (Ubuntu's chromium) do not count: they cannot read the tests' temporary folders. Stubs that only
# ask for the snap fail here.
usable() {
    local version
    version=$("$1" --version 2>/dev/null) && [[ $version != *snap* ]]
}

find_browser() {
    local candidate
    for candidate in chromium chromium-browser google-chrome google-chrome-stable; do
        if usable "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

is_debian() {
    [ "$(. /etc/os-release 2>/dev/null && echo "${ID:-}")" = debian ]
}

# Playwright brings its own Node.js, which needs a library that a small Debian or Ubuntu lacks.
if ! .venv/bin/python -m playwright --version >/dev/null 2>&1; then
    apt_install libatomic1 >&2 || true
    .venv/bin/python -m playwright --version >/dev/null || die "Playwright does not start here: see the lines above"
fi

if [ -n "${GRASP_CHROMIUM:-}" ]; then
    "$GRASP_CHROMIUM" --version >/dev/null 2>&1 || die "GRASP_CHROMIUM=$GRASP_CHROMIUM does not run"
    echo "$GRASP_CHROMIUM"
elif find_browser; then
    :
elif is_debian && apt_install chromium >&2 && find_browser; then
    :
elif .venv/bin/python -m playwright install --with-deps chromium >&2; then
    echo
else
    die "the browser tests need Chromium or Chrome: install one, set GRASP_CHROMIUM=/path/to/it, and try again"
fi
