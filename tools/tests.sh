#!/usr/bin/env bash
# Run the tests of `make test` but those of tests/io; arguments go to pytest.
# Those in a real browser wait more than they compute, so the others run beside them. These give way: on pages
# that wait for busy cores clicks get lost.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
pytest=(.venv/bin/python -m pytest)

told=$(mktemp)
nice -n 19 "${pytest[@]}" --ignore tests/io --numprocesses auto --maxprocesses 4 --dist loadfile \
    -m 'not browser and not long' "$@" >"$told" 2>&1 &
others=$!
trap 'kill "$others" 2>/dev/null' INT TERM
"${pytest[@]}" -m 'browser and not long' "$@"
browser=$?
wait "$others"
other=$?
cat "$told"
rm -f "$told"
for status in "$browser" "$other"; do
    [ "$status" -eq 0 ] || [ "$status" -eq 5 ] || exit "$status" # 5: none were asked for
done
