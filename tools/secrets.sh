#!/usr/bin/env bash
# Make the secrets of compose.yaml: files in secrets/, which nobody else on this machine can list. Existing
# ones stay; those in a .env from before 0.2.0 are taken over. Containers read the files as other users, so
# the files themselves are readable, but the folder is not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/lib.sh

RANDOM_ONES="database_password cookie_secret metrics_token webhook_secret"
# Given by the sign-in provider, the language model's server, `grasp backup-key`; and random text,
# if people may store their tokens.
GIVEN_ONES="oidc_client_secret lm_key backup_key secret_key"

of_env() {
    [ ! -f .env ] || sed -n "s/^GRASP_${1^^}=//p" .env | tail -n 1 | tr -d "\"'\n"
}

fresh() {
    od -An -N32 -tx1 /dev/urandom | tr -d ' \n'
}

umask 077
mkdir -p secrets
chmod 700 secrets
for name in $RANDOM_ONES $GIVEN_ONES; do
    [ ! -s "secrets/$name" ] || continue
    value=$(of_env "$name")
    case " $RANDOM_ONES " in
        *" $name "*) value=${value:-$(fresh)} ;;
    esac
    printf %s "$value" >"secrets/$name"
    chmod 644 "secrets/$name"
    say "secrets/$name: $([ -n "$value" ] && echo made || echo 'empty; fill it in where you need it')"
done
if [ -f .env ] && grep -qE "^GRASP_(DATABASE_PASSWORD|COOKIE_SECRET|METRICS_TOKEN|WEBHOOK_SECRET|OIDC_CLIENT_SECRET|LM_KEY|BACKUP_KEY|SECRET_KEY)=." .env; then
    say "secrets are read from secrets/ alone now: take them out of .env"
fi
