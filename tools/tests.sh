#!/usr/bin/env bash
# Run checks and tests so that all cores are busy from the first second to the last.
#   tools/tests.sh check  style, types, imports, and the tests that need neither browser nor server
#   tools/tests.sh all    all of these and all other tests but the long ones
# Further arguments go to pytest. What runs in the background is printed once it has ended.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
pytest=(.venv/bin/python -m pytest)

scratch=$(mktemp -d)
names=()
jobs=()
background() { # background NAME COMMAND...: its output goes to a file
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

# Tests of a browser, a database or a proxy wait for this file, which says where the programs are.
programs() {
    local chromium postgres caddy found=0
    chromium=$(tools/browser.sh) && postgres=$(tools/postgres.sh) && caddy=$(tools/caddy.sh) || found=1
    printf 'GRASP_CHROMIUM=%s\nGRASP_POSTGRES=%s\nGRASP_CADDY=%s\n' "$chromium" "$postgres" "$caddy" >"$scratch/new"
    mv "$scratch/new" "$GRASP_PROGRAMS"
    return "$found"
}

failed=0
run() { # run COMMAND...: in the foreground; 5 is pytest's word for no tests, which arguments may have left
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
    background warm .venv/bin/python -m grasp_core warm # what tests need first they compile themselves
    run "${pytest[@]}" --numprocesses auto --maxprocesses 4 --dist loadfile -m 'not browser and not long' "$@"
    # By themselves: on pages that wait for busy cores clicks get lost. Each waits for its pages half of the time.
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
