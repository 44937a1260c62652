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
  said=$( (chmod 0700 "$state" "$state/backups" "$state/results" && : >>"$state/lock") 2>&1) ||
    fail "$state" "$(printf %s "$said" | one_line)" 'a directory that can be written to'
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

# On the disk, not in a cache; fails where the disk says that it is not. sync with files: coreutils
# 8.24 (2015) and busybox with FEATURE_SYNC_FANCY; without, everything is written out.
durable() {
  synced=$(limited 60 sync "$@" 2>&1) && return
  case $synced in
    *'Input/output error'* | *'No space left'* | *'uota exceeded'*) return 1 ;;
  esac
  limited 60 sync
}

# Keeps the last ten and the one just made; the names begin with the UTC time, so they sort by age,
# but for those of a clock that was ahead.
prune() { # the one just made, all of them
  new=$1
  shift
  while [ $# -gt 10 ]; do
    [ "$1" = "$new" ] || rm -f "$1"
    shift
  done
}

# A file of these bytes, or none and a failure: a shell's own echo may be cut short on a full disk.
whole() { # path, text
  printf %s "${2:+$2
}" 2>/dev/null >"$1" && [ "$(cat "$1")" = "$2" ] && return
  rm -f "$1"
  return 1
}

# Room for what is written down while the engine is away: its disk may be full by then. A write asks
# for it too: a file that no restart can follow would be there at the next start.
take_room() {
  head -c 262144 /dev/zero 2>/dev/null >"$state/room" && durable "$state/room" &&
    [ "$(wc -c <"$state/room")" -eq 262144 ] && return
  drop_room
  return 1
}

drop_room() { rm -f "$state/room"; }

no_room() { fail "$state" 'no room for 256 KiB' 'it, for the list of what runs and the result'; }

sum() { sha256sum <"$1" | cut -d ' ' -f 1; }
