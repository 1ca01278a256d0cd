#!/usr/bin/env bash
# Print the folder of PostgreSQL's server programs for the store's tests; install Debian's or Ubuntu's
# package if there are none. An empty line means none; the tests then report what they leave out.
# GRASP_POSTGRES=/path/to/bin chooses.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/lib.sh

find_postgres() {
    local folder
    for folder in $(printf '%s\n' /usr/lib/postgresql/*/bin | sort --version-sort --reverse); do
        if [ -x "$folder/initdb" ]; then
            echo "$folder"
            return
        fi
    done
    folder=$(pg_config --bindir 2>/dev/null) && [ -x "$folder/initdb" ] && echo "$folder"
}

if [ -n "${GRASP_POSTGRES:-}" ]; then
    [ -x "$GRASP_POSTGRES/initdb" ] || die "GRASP_POSTGRES=$GRASP_POSTGRES holds no initdb"
    echo "$GRASP_POSTGRES"
elif find_postgres; then
    :
elif apt_install postgresql >&2 && find_postgres; then
    :
else
    say "without PostgreSQL's server programs its tests are skipped: install Debian's package postgresql"
    echo
fi
