# shellcheck shell=sh
# Holds packages or lets them go with the node's own tool, and keeps a record of what was held.
#
# Arguments: state directory, hold or release, the tool. Standard input: names, one a line.

# Nothing is looked up in a repository: only what is installed is meant.
act() {
  case $tool-$what in
    apt-mark-hold) apt-mark hold "$@" ;;
    apt-mark-release) apt-mark unhold "$@" ;;
    dnf-hold | dnf5-hold) "$tool" --quiet --disablerepo='*' versionlock add "$@" ;;
    dnf-release | dnf5-release) "$tool" --quiet --disablerepo='*' versionlock delete "$@" ;;
    yum-hold) yum --quiet --cacheonly versionlock add "$@" ;;
    yum-release) yum --quiet --cacheonly versionlock delete "$@" ;;
    zypper-hold) zypper --non-interactive --quiet addlock "$@" ;;
    zypper-release) zypper --non-interactive --quiet removelock "$@" ;;
    *) fail "$tool" 'a tool that is not known here' 'apt-mark, dnf, yum or zypper' ;;
  esac
}

listed() {
  case $tool in
    apt-mark) apt-mark showhold ;;
    dnf | dnf5) "$tool" --quiet --disablerepo='*' versionlock list 2>/dev/null ;;
    yum) yum --quiet --cacheonly versionlock list ;;
    zypper) cat /etc/zypp/locks ;;
  esac
}

# dnf's versionlock ends well where it found no such package.
proven() {
  there=$(listed)
  for name; do
    printf '%s\n' "$there" | grep -qF -e "${name%%:*}" ||
      fail "$tool" "$name not among what it holds" 'it held'
  done
}

# Before the hold, so that one of which nobody was told can be let go; a hold that failed is out.
remember() {
  kept=$(cat "$state/holds" 2>/dev/null)
  for name; do
    printf '%s\n' "$kept" | grep -qxF "$tool $name" || kept=$(printf '%s\n%s' "$kept" "$tool $name")
  done
  keep "${kept#
}"
}

forget() {
  [ -e "$state/holds" ] || return 0
  kept=$(cat "$state/holds")
  for name; do kept=$(printf '%s\n' "$kept" | grep -vxF "$tool $name"); done
  keep "$kept"
}

keep() { # the lines of the record; what cannot be kept stays as it was
  if ! whole "$state/holds.new" "$1" || ! mv -f "$state/holds.new" "$state/holds"; then
    fail "$state/holds" 'no room for the record of holds' 'it, to know later what may be let go'
  fi
  [ -s "$state/holds" ] || rm -f "$state/holds"
  durable "$state"
}

state=$1 what=$2 tool=$3
shift 3
while read -r name; do set -- "$@" "$name"; done
[ $# -gt 0 ] || fail packages 'no standard input' 'their names'
trap unlock EXIT
trap 'exit 129' HUP INT TERM PIPE
open_state "$state"
lock 30 || fail "$state" 'another run at work on this node' 'one at a time'
[ "$what" != hold ] || remember "$@"
said=$(act "$@" 2>&1) || {
  [ "$what" != hold ] || forget "$@"
  fail "$tool" "$(printf %s "$said" | one_line)" "$what of $*"
}
if [ "$what" = hold ]; then proven "$@"; else forget "$@"; fi
journal "$what $tool $*"
echo "$what $tool $*"
