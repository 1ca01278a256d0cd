#!/usr/bin/env bash
# Build an environment for each annotation tool that `make exports` runs, unless it is up to date.
# Their dependencies exclude each other and ours, so each gets its own below .venv-exports (2 GB in all).
# PYTHON=/path/to/python3 chooses the interpreter; otherwise 3.11, for which all three have wheels, or the newest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/lib.sh

# Pins beside a tool: packages whose newest versions break it.
declare -A WANTED=(
    [label-studio]='label-studio==1.23.2'
    [doccano]='doccano==1.8.4 marshmallow<4 numpy<2 setuptools<81'
    [potato]='potato-annotation==2.12.1 pyarrow>=12'
)

if [ -z "${PYTHON:-}" ] && command -v python3.11 >/dev/null; then
    PYTHON=python3.11
fi
python=$(find_python) || die "$NO_PYTHON"
if ! python_makes_venvs "$python"; then # Debian and Ubuntu package this part separately
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    apt_install "python$version-venv" || die "install python$version-venv (apt-get install python$version-venv) and try again"
fi
for tool in "${!WANTED[@]}"; do
    folder=.venv-exports/$tool
    installed=$folder/.wanted
    if [ -e "$installed" ] && [ "$(cat "$installed")" = "${WANTED[$tool]}" ]; then
        continue
    fi
    say "building $folder"
    "$python" -m venv --clear "$folder"
    read -ra packages <<<"${WANTED[$tool]}"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"
    echo "${WANTED[$tool]}" >"$installed"
done
