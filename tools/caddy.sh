#!/usr/bin/env bash
# Print the path of a Caddy for the deployment's tests; unpack Debian's or Ubuntu's package into .venv if
# none is found. That needs no rights and starts no service. An empty line means that there is none; the tests
# then report what they leave out. GRASP_CADDY=/path/to/caddy chooses.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/lib.sh

UNPACKED=$PWD/.venv/caddy

unpack_caddy() {
    local scratch
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    scratch=$(mktemp -d)
    say "unpacking Debian's package caddy into .venv"
    if (cd "$scratch" && apt-get download --quiet=2 caddy && dpkg-deb --extract caddy_*.deb caddy) >&2; then
        mv "$scratch/caddy/usr/bin/caddy" "$UNPACKED"
    fi
    rm -rf "$scratch"
    "$UNPACKED" version >/dev/null 2>&1
}

if [ -n "${GRASP_CADDY:-}" ]; then
    "$GRASP_CADDY" version >/dev/null || die "GRASP_CADDY=$GRASP_CADDY does not run"
    echo "$GRASP_CADDY"
elif caddy version >/dev/null 2>&1; then
    command -v caddy
elif "$UNPACKED" version >/dev/null 2>&1; then
    echo "$UNPACKED"
elif unpack_caddy; then
    echo "$UNPACKED"
else
    say "without Caddy the deployment's tests are skipped: install Debian's package caddy"
    echo
fi
