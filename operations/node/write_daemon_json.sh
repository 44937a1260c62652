# shellcheck shell=sh
# shellcheck disable=SC2154 # $temporary is set by temporary_for (replace.sh)
# Writes a daemon.json: nothing is touched unless everything before the rename went well.
#
# Arguments: path, state directory, driver, dockerd, its flags.
# Standard input: sha256 of the file as it was read (or "absent"), sha256 of the new one, and the
# new one in base64.

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

make_directory() {
  [ -d "${target%/*}" ] || (umask 022 && mkdir -p "${target%/*}") ||
    fail "${target%/*}" 'it cannot be made' 'a directory'
}

free() { df -P -k "${target%/*}" | sed -n '2s/.* \([0-9]*\) *[0-9]*% .*/ \1/p'; }

fill() {
  said=$(base64 -d 2>&1 >"$temporary") ||
    fail "$target" "$(printf %s "$said" | one_line)" 'all of the new file on the disk'
  [ "$(sum "$temporary")" = "$after" ] ||
    # busybox's base64 says nothing of a full disk.
    fail "$target" "$(wc -c <"$temporary") bytes, not the whole new file, with$(free) KiB free" \
      'all of it: room on the disk, and a connection that lasts'
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
  prune "$state"/backups/daemon.json.*
}

# What an undo needs; it stands until a restart has proven the file.
record() {
  {
    printf '%s\n' "path $path" "target $target" "backup $backup" "before $before" "after $after"
    printf '%s\n' "driver $driver" "at $(now)"
  } >"$state/written.new" || fail "$state" 'no record of the write can be kept' 'room in it'
  mv -f "$state/written.new" "$state/written"
  durable "$state/written" "$state"
}

path=$1 state=$2 driver=$3
shift 3
trap 'drop_temporary; unlock' EXIT
trap 'exit 129' HUP INT TERM PIPE
before='' after=''
read -r before
read -r after
[ -n "$after" ] || fail "$path" 'no standard input' 'the new file'
open_state "$state"
lock 30 || fail "$state" 'another run at work on this node' 'one at a time'
resolve
same_as_read
make_directory
temporary_for "$target"
fill
validate "$temporary" "$target" "$@"
back_up
record
same_as_read
put_in_place "$target"
! command -v restorecon >/dev/null 2>&1 || restorecon "$target" 2>/dev/null
journal "write $target driver $driver backup $backup"
echo "written $target"
echo "backup $backup"
