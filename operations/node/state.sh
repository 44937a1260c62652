# shellcheck shell=sh
# The state directory: backups, what was written, what ran, results, the journal.

# What is in the directory and not of a run that ended before it made the rest.
strangers() { find "$state" -mindepth 1 -maxdepth 1 ! -name lock ! -name lock.owner; }

open_state() { # sets $state
  state=$1
  [ "$(id -u)" = 0 ] || fail "$state" "user id $(id -u)" 'root (_sudo=True)'
  [ ! -L "$state" ] || fail "$state" 'a symbolic link' 'a directory of root'
  [ ! -d "$state" ] || [ -d "$state/backups" ] || [ -z "$(strangers)" ] ||
    fail "$state" 'a directory with other things in it' 'one of its own: its mode becomes 0700'
  mkdir -p "$state/backups" "$state/results" || fail "$state" 'it cannot be made' 'a directory'
  owner=$(stat -c %u "$state")
  [ "$owner" = 0 ] || fail "$state" "owner $owner" 'a directory of root'
  chmod 0700 "$state" "$state/backups" "$state/results"
}

# What was done and why, the last few hundred times.
journal() {
  printf '%s %s\n' "$(now)" "$*" >>"$state/journal"
  [ "$(wc -l <"$state/journal")" -le 400 ] || {
    tail -n 200 "$state/journal" >"$state/journal.new" && mv -f "$state/journal.new" "$state/journal"
  }
}

# The value of a key in a file of "key value" lines.
value() { sed -n "s/^$2 //p" "$1" 2>/dev/null | head -n 1; }

# On the disk, not in a cache. sync with files: coreutils 8.24 (2015) and busybox with
# FEATURE_SYNC_FANCY; without, everything is written out.
durable() {
  limited 60 sync "$@" 2>/dev/null || limited 60 sync
}

# Keeps the last ten; the names begin with the UTC time, so they sort by age.
prune() {
  while [ $# -gt 10 ]; do
    rm -f "$1"
    shift
  done
}

sum() { sha256sum <"$1" | cut -d ' ' -f 1; }
