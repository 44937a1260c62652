# shellcheck shell=sh
# shellcheck disable=SC2154 # $synced is set by durable (state.sh)
# A file replaced in one step by another of the same mode, owner, attributes and ACL.

temporary=
drop_temporary() { [ -z "$temporary" ] || rm -f "$temporary"; }

# An empty file beside $1 that will take its place, like it in everything but the bytes.
temporary_for() { # the file in place; sets $temporary
  directory=${1%/*}
  rm -f "$directory"/.pyinfra-nvml.??????
  temporary=$(mktemp "$directory/.pyinfra-nvml.XXXXXX" 2>&1) || {
    said=$(printf %s "$temporary" | one_line)
    temporary=
    fail "$directory" "$said" 'room for a new file in it'
  }
  if [ ! -e "$1" ]; then
    # As Docker's packages and documentation have it: anyone may read it.
    chmod 0644 "$temporary" && return
  elif cp --help 2>&1 | grep -q -e --attributes-only; then
    cp --attributes-only --preserve=all "$1" "$temporary"
  else
    cp -p "$1" "$temporary" && : >"$temporary"
  fi || fail "$1" 'its mode and owner cannot be copied' 'a new file like the old one'
  [ "$(looks "$1")" = "$(looks "$temporary")" ] ||
    fail "$1" 'its mode, owner, ACL or attributes cannot be copied' 'a new file like the old one'
}

# ls marks an ACL with a + after the mode; IMA and EVM sign the bytes, so theirs have to differ.
looks() {
  stat -c '%a %u %g' "$1"
  # shellcheck disable=SC2012 # the mark is on no other tool that every node has
  ls -ld "$1" | cut -c 11
  if command -v getfattr >/dev/null 2>&1; then
    getfattr --absolute-names -d -m - "$1" 2>/dev/null |
      grep -v -e '^# file:' -e '^security.ima=' -e '^security.evm='
  fi
}

put_in_place() { # the file in place
  durable "$temporary" ||
    fail "$1" "$(printf %s "$synced" | one_line)" 'all of the new file on the disk'
  said=$(mv -f "$temporary" "$1" 2>&1) ||
    fail "$1" "$(printf %s "$said" | one_line)" 'the new file in its place'
  temporary=
  durable "${1%/*}"
}
