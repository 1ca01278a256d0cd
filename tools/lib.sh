# Functions for the scripts in this folder; bash, sourced from the repository's root.
# shellcheck shell=bash

die() {
    printf 'grasp: %s\n' "$*" >&2
    exit 1
}

say() {
    printf 'grasp: %s\n' "$*" >&2
}

# shellcheck disable=SC2034  # for the scripts that source this file
NO_PYTHON='GRASP needs Python 3.11, 3.12, 3.13 or 3.14 and found none; install one (for example "apt-get install python3") or name it: make run PYTHON=/path/to/python3'

# Run the candidate, because version managers put commands on the PATH that do not work.
python_fits() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' >/dev/null 2>&1
}

python_makes_venvs() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1
}

# Print the newest Python that fits; prefer one that can make virtual environments.
find_python() {
    local candidate
    if [ -n "${PYTHON:-}" ]; then
        python_fits "$PYTHON" && echo "$PYTHON"
        return
    fi
    for candidate in python3.14 python3.13 python3.12 python3.11 python3; do
        if python_fits "$candidate" && python_makes_venvs "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    for candidate in python3.14 python3.13 python3.12 python3.11 python3; do
        if python_fits "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# Install Debian or Ubuntu packages, as root or through sudo; fail if neither is possible.
apt_install() {
    local -a as_root=()
    command -v apt-get >/dev/null || return 1
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || return 1
        as_root=(sudo)
        [ -t 0 ] || as_root+=(--non-interactive) # nobody is there to type a password
    fi
    say "installing system packages: $*"
    # If one source is unreachable, another may have the packages.
    "${as_root[@]}" apt-get update --quiet=2 || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --quiet=2 --yes --no-install-recommends "$@"
}
