# shellcheck shell=sh
# Makes a version of this project from wheels, without a network, and puts it in use at once.
#
# Arguments: home, the version's digest, Python, archive of the wheels, the program to try it with.

drop() {
  rm -rf "$wheels" "$archive"
  [ -e "$version/.ready" ] || rm -rf "$version"
  unlock
}

# The node's own pip settings may name a registry, or want a virtual environment to be elsewhere.
quiet_pip() {
  PIP_CONFIG_FILE=/dev/null PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1 \
    "$version/bin/python" -I -m pip install --quiet --no-cache-dir --no-index \
    --find-links "$wheels" --require-hashes --requirement "$wheels/requirements.txt" 2>&1
}

make() {
  rm -rf "$version"
  said=$(tar -xf "$archive" -C "$wheels" 2>&1) ||
    fail "$archive" "$(printf %s "$said" | one_line)" 'all wheels: room on the disk'
  said=$("$python" -I -m venv "$version" 2>&1) ||
    fail "$python" "$(printf %s "$said" | one_line)" 'a virtual environment (python3-venv)'
  said=$(quiet_pip) ||
    fail "$version" "$(printf %s "$said" | one_line)" 'every wheel installed from the archive'
  said=$(cd / && "$version/bin/$program" --help 2>&1) ||
    fail "$version/bin/$program" "$(printf %s "$said" | tail -n 3 | one_line)" 'it to run'
  : >"$version/.ready"
  durable "$version/.ready"
}

use() {
  ln -sfn "versions/$digest" "$home/current.new" && mv -Tf "$home/current.new" "$home/current"
}

# The version before stays: a run of it may be at work, and one can go back by hand.
prune_versions() {
  for each in "$home"/versions/*; do
    [ "$each" = "$version" ] || [ "$each" = "$home/$before" ] || rm -rf "$each"
  done
}

home=$1 digest=$2 python=$3 archive=$4 program=$5
umask 022
[ "$(id -u)" = 0 ] || fail "$home" "user id $(id -u)" 'root (_sudo=True)'
[ ! -L "$home" ] || fail "$home" 'a symbolic link' 'a directory of root'
mkdir -p "$home/versions" || fail "$home" 'it cannot be made' 'a directory'
version=$home/versions/$digest
# shellcheck disable=SC2034 # lock.sh reads it
state=$home
lock 120 || fail "$home" 'another installation at work' 'one at a time'
wheels=$(mktemp -d "$home/wheels.XXXXXX") || fail "$home" 'it cannot be written to' 'room in it'
trap drop EXIT
trap 'exit 129' HUP INT TERM PIPE
before=$(readlink "$home/current") || before=
[ -e "$version/.ready" ] || make
use || fail "$home/current" 'it cannot be set' "a link to versions/$digest"
prune_versions
echo "in use $digest"
