# shellcheck shell=sh
# shellcheck disable=SC2154 # $path, $state, $driver, $before and $after are the calling script's
# The configuration file in place: what it is, a copy of it, a record of what is done to it.

resolve() { # sets $target
  target=$path
  if [ -L "$path" ]; then
    target=$(readlink -f "$path")
    [ -e "$target" ] || fail "$path" "a symbolic link to ${target:-nothing}, which is not there" \
      'a file behind it'
  fi
  [ ! -d "$target" ] || fail "$target" 'a directory' 'a file'
  [ ! -e "$target" ] || [ -f "$target" ] || fail "$target" 'no regular file' 'a file'
}

same_as_read() {
  there=absent
  [ ! -e "$target" ] || there=$(sum "$target")
  [ "$there" = "$before" ] ||
    fail "$target" 'other bytes than a moment ago: someone else writes it' 'the file as it was read'
}

back_up() { # sets $backup
  backup=absent
  [ -e "$target" ] || return 0
  name=daemon.json.$(now)
  backup=$name
  number=1
  while [ -e "$state/backups/$backup" ]; do
    number=$((number + 1))
    backup=$name.$number
  done
  said=$(cat "$target" 2>&1 >"$state/backups/$backup") || {
    rm -f "$state/backups/$backup"
    fail "$state/backups" "$(printf %s "$said" | one_line)" 'a copy of the old file'
  }
  durable "$state/backups/$backup" "$state/backups"
  prune "$state/backups/$backup" "$state"/backups/daemon.json.*
}

# What an undo needs; it stands until a restart has proven the file.
record() {
  whole "$state/written.new" "path $path
target $target
backup $backup
before $before
after $after
driver $driver
at $(now)
what ${what:-write}" || fail "$state" 'no record of the write can be kept' 'room in it'
  mv -f "$state/written.new" "$state/written"
  durable "$state/written" "$state"
}
