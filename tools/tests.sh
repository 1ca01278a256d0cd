#!/usr/bin/env bash
# Run checks and tests so that all cores are busy from the first second to the last.
#   tools/tests.sh check  style, types, imports, and tests without browser or server
#   tools/tests.sh all    all of these, and all other tests except the long ones
# Further arguments go to pytest. The output of background jobs is printed once they have ended.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
pytest=(.venv/bin/python -m pytest)

scratch=$(mktemp -d)
names=()
jobs=()
background() { # background NAME COMMAND...: write its output to a file
    local name=$1
    shift
    "$@" >"$scratch/$name" 2>&1 &
    names+=("$name")
    jobs+=($!)
}
end() {
    kill "${jobs[@]}" 2>/dev/null
    rm -rf "$scratch"
}
trap end EXIT
trap 'exit 130' INT TERM

# Tests with a browser, a database or a proxy wait for this file with the programs' paths.
programs() {
    local chromium postgres caddy found=0
    chromium=$(tools/browser.sh) && postgres=$(tools/postgres.sh) && caddy=$(tools/caddy.sh) || found=1
    printf 'GRASP_CHROMIUM=%s\nGRASP_POSTGRES=%s\nGRASP_CADDY=%s\n' "$chromium" "$postgres" "$caddy" >"$scratch/new"
    mv "$scratch/new" "$GRASP_PROGRAMS"
    return "$found"
}

failed=0
run() { # run COMMAND...: in the foreground; 5 is pytest's status for no tests, if the arguments leave none
    "$@"
    local status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 5 ] || failed=1
}

mode=$1
shift
background lint nice make --no-print-directory lint
if [ "$mode" = all ]; then
    export GRASP_PROGRAMS=$scratch/programs.txt
    background programs programs
    background warm .venv/bin/python -m grasp_core warm # tests that start first compile for themselves
    run "${pytest[@]}" --numprocesses auto --maxprocesses 4 --dist loadfile -m 'not browser and not long' "$@"
    # Separately, since clicks get lost on pages that wait for busy cores. Half of the time they wait for pages.
    run "${pytest[@]}" --numprocesses 2 -m 'browser and not long' "$@"
else
    run "${pytest[@]}" --numprocesses 2 --dist loadfile -m 'not server and not browser and not long' "$@"
fi
for place in "${!jobs[@]}"; do
    wait "${jobs[place]}"
    status=$?
    cat "$scratch/${names[place]}"
    [ "$status" -eq 0 ] || [ "$status" -eq 5 ] || {
        echo "failed: ${names[place]}" >&2
        failed=1
    }
done
exit "$failed"
