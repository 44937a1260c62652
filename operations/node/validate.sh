# shellcheck shell=sh
# dockerd's own opinion of a file. --validate came with 23.0. The flags are those of the running
# engine: a key given both ways stops it.

validate() { # the file, the path to name, dockerd, flags
  file=$1 shown=$2 dockerd=$3
  shift 3
  # A package that is being replaced has no dockerd for a moment: a restart would find none.
  case $dockerd in
    /*) [ -x "$dockerd" ] || fail "$dockerd" 'no such program' 'the dockerd that a restart starts' ;;
  esac
  if ! limited 10 "$dockerd" --help 2>/dev/null | grep -q -e --validate; then
    echo "validate not-known $dockerd (before 23.0)"
    return
  fi
  said=$(limited 30 "$dockerd" --validate --config-file "$file" "$@" 2>&1) ||
    fail "$shown" "$dockerd --validate: $(printf %s "$said" | one_line)" 'a file that it accepts'
  echo "validate accepted $dockerd"
}
