# shellcheck shell=sh
# How every script here speaks, and how long it lets a command run.
set -u
umask 077
LC_ALL=C
PATH="${PATH:-/bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
export LC_ALL PATH
# A context of the user may name another node's engine.
unset DOCKER_HOST DOCKER_TLS DOCKER_TLS_VERIFY DOCKER_CERT_PATH DOCKER_API_VERSION
DOCKER_CONTEXT=default
export DOCKER_CONTEXT

fail() { # subject, what was seen, what was wanted
  printf '%s: saw %s, want %s\n' "$1" "$2" "$3" >&2
  exit 1
}

now() { date -u +%Y%m%dT%H%M%SZ; }

one_line() { tr '\n' ' ' | tr -cd '\40-\176' | cut -c "1-${1:-400}"; }

if timeout -k 2 5 true 2>/dev/null; then
  limited() { timeout -k 2 "$@"; }
else
  limited() { shift; "$@"; }
fi
