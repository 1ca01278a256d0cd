#!/usr/bin/env bash
# Run the library's tests with the oldest packages that pyproject.toml allows; arguments go to pytest.
# They have their own environment, .venv-lowest, with the tests' other packages in the usual versions.
# PYTHON=/path/to/python3.11 names the interpreter: the oldest Python goes with them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/lib.sh

VENV=.venv-lowest
LISTS=(requirements.txt requirements-test.txt requirements-models.txt requirements-lowest.txt) # later lists overwrite packages of earlier ones
TESTS=(
    tests/{analysis,cli,model,notebook,permutation,reading,report,statistics}
    tests/test_{dices350,example,exports,released_files,several_questions}.py
)

python=${PYTHON:-python3.11}
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null ||
    die "make test-lowest needs Python 3.11; name it: make test-lowest PYTHON=/path/to/python3.11"
if ! cat "${LISTS[@]}" | cmp -s - "$VENV/.lists"; then
    say "building $VENV"
    "$python" -m venv --clear "$VENV"
    for list in "${LISTS[@]}"; do
        "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
            --requirement "$list"
    done
    cat "${LISTS[@]}" >"$VENV/.lists"
fi
"$VENV/bin/python" -m grasp_core warm
exec "$VENV/bin/python" -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile -m 'not browser and not long' \
    "${TESTS[@]}" "$@"
