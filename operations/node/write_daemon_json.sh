# shellcheck shell=sh
# shellcheck disable=SC2154,SC2034 # $temporary is set in replace.sh, $target and $backup in config_file.sh,
# which reads $before
# Writes a daemon.json: nothing is touched unless everything before the rename went well.
#
# Arguments: path, state directory, driver, dockerd, its flags.
# Standard input: sha256 of the file as it was read (or "absent"), sha256 of the new one, and the
# new one in base64.

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
take_room || no_room
trap 'drop_temporary; drop_room; unlock' EXIT
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
# The label of a file that was there is its own, copied with the rest.
[ "$before" != absent ] || ! command -v restorecon >/dev/null 2>&1 || restorecon "$target" 2>/dev/null
journal "write $target driver $driver backup $backup"
echo "written $target"
echo "backup $backup"
