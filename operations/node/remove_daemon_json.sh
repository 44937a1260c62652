# shellcheck shell=sh
# shellcheck disable=SC2154,SC2034 # config_file.sh sets $target and $backup, and reads $driver, $after
# Takes away a daemon.json that was not there before; it is kept among the backups.
#
# Arguments: path, state directory, driver. Standard input: sha256 of the file as it was read.

path=$1 state=$2 driver=$3
trap unlock EXIT
trap 'exit 129' HUP INT TERM PIPE
before='' after=absent
read -r before
[ -n "$before" ] || fail "$path" 'no standard input' 'the sum of the file'
open_state "$state"
lock 30 || fail "$state" 'another run at work on this node' 'one at a time'
take_room || no_room
trap 'drop_room; unlock' EXIT
resolve
same_as_read
back_up
record
same_as_read
said=$(rm -f "$target" 2>&1) || fail "$target" "$(printf %s "$said" | one_line)" 'it removed'
durable "${target%/*}"
journal "remove $target backup $backup"
echo "removed $target"
echo "backup $backup"
