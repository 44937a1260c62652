# shellcheck shell=sh
# The textfile of a schedule that is no more: its metrics would stand at what was true then, and
# beside those of another file node_exporter drops both.

metrics_of() { # a unit or a crontab of ours; prints the file that its audit writes
  [ ! -f "$1" ] || sed -n 's/^[^#].* --textfile \([^ ]*\.prom\).*/\1/p' "$1"
}

no_metrics() {
  [ -f "$1" ] || return 0
  rm -f "$1" || fail "$1" 'it cannot be removed' 'it gone: nothing writes it any more'
  echo "removed $1"
}
