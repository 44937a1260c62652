# shellcheck shell=sh
# Takes this project's program away again. Argument: home.
home=$1
[ "$(id -u)" = 0 ] || fail "$home" "user id $(id -u)" 'root (_sudo=True)'
[ ! -L "$home" ] || fail "$home" 'a symbolic link' 'a directory of root'
rm -rf "$home/current" "$home/current.new" "$home/versions" "$home"/wheels.* "$home"/*.tar
rm -f "$home/lock" "$home/lock.owner"
rmdir "$home" 2>/dev/null || [ ! -e "$home" ] || echo "left $home: there are other things in it"
