# shellcheck shell=sh
# Starts the transaction where no connection can end it, and waits for its result.
#
# Arguments: state directory, wanted driver, seconds that a start may take, sha256 of the
# transaction's script; where an engine runs, its file, its dockerd and the flags. Standard input:
# that script.

# Two runs at once come here before either has the lock.
store() {
  new=$state/restart.sh.$$.new
  said=$(cat 2>&1 >"$new" | one_line)
  if [ "$(sum "$new")" != "$1" ]; then
    rm -f "$new"
    fail "$state/restart.sh" "${said:-only a part of the script came}" 'all of it'
  fi
  mv -f "$new" "$state/restart.sh"
}

# A transient unit needs no daemon-reload (systemd-run(1)). --collect came with systemd 236.
detach() {
  set -- /bin/sh "$state/restart.sh" "$state" "$driver" "$id" "$patience"
  if [ -d /run/systemd/system ] && command -v systemd-run >/dev/null 2>&1; then
    unit=pyinfra-nvml-restart
    until said=$(systemd-run --quiet --collect --unit=$unit "$@" 2>&1); do
      case $said in
        *already*) systemctl reset-failed $unit.service 2>/dev/null ;;
        *collect*)
          systemd-run --quiet --unit=$unit "$@" >/dev/null 2>&1 && return
          ;;
        *) fail systemd-run "$(printf %s "$said" | one_line)" 'the restart as a unit of its own' ;;
      esac
      sleep 1
    done
  elif command -v setsid >/dev/null 2>&1; then
    setsid "$@" </dev/null >/dev/null 2>&1 &
  else
    nohup "$@" </dev/null >/dev/null 2>&1 &
  fi
}

# A unit that is there may not have come as far as the lock, on a node with much to do.
at_work() {
  [ -d /run/systemd/system ] && systemctl is-active --quiet pyinfra-nvml-restart 2>/dev/null
}

# While the transaction lives, it holds the lock. Without lock and result for 20 s it has died.
await_result() {
  idle=0
  until [ -s "$result" ]; do
    [ "$idle" -lt 20 ] || fail "restart $id" 'it ended without a result' 'a result; run it again'
    sleep 1
    if lock_free && ! at_work; then idle=$((idle + 1)); else idle=0; fi
  done
}

state=$1 driver=$2 patience=$3
open_state "$state"
id=$(now).$$
result=$state/results/$id
# A transaction at work has room of its own, and gives it back at any moment.
if try_lock; then take_room || no_room; fi
unlock
store "$4"
shift 4
if [ $# -gt 0 ] && [ -f "$1" ]; then
  path=$1
  shift
  # A file that was broken since the engine's start would keep it down, undo or not.
  validate "$path" "$path" "$@"
fi
detach
await_result
verdict=$(value "$result" verdict)
[ "$verdict" != down ] || {
  echo 'docker: THE ENGINE IS DOWN on this node, and every container with it. What it says:' >&2
  sed -n -e 's/^reason /  /p' -e 's/^undo /  /p' "$result" >&2
}
cat "$result"
case $verdict in
  ok | unchanged | stopped) ;;
  down) fail docker 'it down' 'it up: mend what it says, then systemctl restart docker' ;;
  *) fail docker "cgroup driver $(value "$result" after), the restart $verdict" "$driver" ;;
esac
