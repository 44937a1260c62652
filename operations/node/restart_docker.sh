# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # $patience is used in engine.sh, $program set there
# The restart as one transaction, apart from any connection: it ends with a result file.
#
# Arguments: state directory, wanted driver, id of the result, seconds that a start may take.
# Its open end is the file "ran": while it stands, containers of before may still be down.

note() { printf '%s\n' "$*" >>"$state/result.new"; }

finish() { # verdict; what is still down stays in "ran", for the next run
  rm -f "$state/room"
  [ -z "${back:-}" ] || printf '%s\n' "$back" | sed 's/^/container /' >>"$state/result.new"
  note "verdict $1"
  note "want $driver"
  note "before ${driver_before:-unknown}"
  note "after ${driver_after:-unknown}"
  note "seconds $(($(monotonic) - began))"
  note end
  durable "$state/result.new"
  mv -f "$state/result.new" "$state/results/$run"
  whole "$state/last" "$run"
  case $1 in down | refused) ;; *) still_missing ;; esac
  durable "$state/results" "$state"
  prune "$state/results/$run" "$state"/results/*
  journal "restart $run verdict $1"
  unlock
  exit 0
}

return_containers() { # sets $back and $unreturned
  rm -f "$state/room"
  back=$(bring_back; [ "$restarted" = no ] || newly_running)
  unreturned=$(printf '%s\n' "$back" | grep -c '^[0-9a-f]* failed ')
}

# Of what ran before, that which failed to start and still exists.
still_missing() {
  [ -e "$state/ran" ] || return 0
  left=$(printf '%s\n' "${back:-}" | while read -r short how _; do
    [ "$how" != failed ] || [ -z "$(now_of "$short" </dev/null)" ] || grep " $short" "$state/ran"
  done)
  if [ -z "$left" ]; then
    rm -f "$state/ran"
  elif whole "$state/ran.new" "$left"; then
    mv -f "$state/ran.new" "$state/ran"
  fi
}

succeed() { # verdict
  return_containers
  [ "$restarted" = no ] || [ "$undoing" = yes ] || lasting || undo
  [ ! -e "$state/written" ] || mv -f "$state/written" "$state/written.proven"
  if [ "$unreturned" -gt 0 ]; then finish incomplete; else finish "$1"; fi
}

# An engine may answer, and die of what it meets a moment later.
lasting() {
  [ "$(restarts)" -le "$up_after" ] && ! given_up && [ "$(come_up)" = "$driver" ] && return
  note "reason it answered with cgroup driver $driver, and has ended since"
  driver_after=''
  return 1
}

# The new file did not do: the old one back, the engine up, the containers too.
undo() {
  undoing=yes
  rm -f "$state/room"
  if [ -n "$driver_after" ]; then
    [ -z "$words" ] || note "reason $(printf %s "$words" | one_line)"
    note "reason docker info says cgroup driver $driver_after"
    up=yes
  else
    why_down "$since" | notes reason
    up=no
  fi
  verdict=wrong
  how=$(put_back "$up") && verdict=undone
  note "undo $how"
  if [ "$verdict" = undone ] || [ "$up" = no ]; then
    again=$(date +%s)
    restart_engine >/dev/null
    driver_after=$(come_up)
    note "undo docker info says cgroup driver ${driver_after:-nothing: it is not up}"
  fi
  if [ -z "$driver_after" ]; then
    why_down "$again" | notes undo
    finish down
  fi
  [ "$driver_after" != "$driver" ] || succeed ok
  return_containers
  finish "$verdict"
}

notes() { while IFS= read -r line; do note "$1 $(printf %s "$line" | one_line)"; done; }

# Whether the engine was started after our write: then the file is proven, or was changed by hand
# since, and is not ours to undo. An interrupted run of ours started it itself.
settle_write() {
  [ -e "$state/written" ] && [ ! -e "$state/ran" ] || return 0
  [ -z "$(find /run/docker.pid -newer "$state/written" 2>/dev/null)" ] ||
    mv -f "$state/written" "$state/written.proven"
}

transaction() {
  rm -f "$state/ran.new"
  : >"$state/result.new"
  note "id $run"
  restarted=no undoing=no words='' since=$(date +%s) began=$(monotonic)
  driver_before=$(live_driver) driver_after=$driver_before
  if [ -e "$state/ran" ]; then note 'recovered yes'; fi
  if [ "$driver_before" = "$driver" ]; then
    [ ! -e "$state/ran" ] || succeed ok
    finish unchanged
  fi
  if [ -z "$driver_before" ] && [ ! -e "$state/ran" ] && stopped; then
    note 'reason docker.service is stopped; it reads the file when it is started'
    finish stopped
  fi
  if [ -n "$driver_before" ] && ! is_ours; then
    note 'reason the dockerd that answers is not that of docker.service'
    finish refused
  fi
  if [ -n "$driver_before" ] && ! startable; then
    note "reason $program is not there, which a restart would start: a package is being replaced?"
    finish refused
  fi
  settle_write
  if ! take_room || ! record_running; then
    rm -f "$state/room"
    saw=${unrecorded:-no room for 256 KiB in $state}
    note "reason docker: saw $saw: nothing is stopped that could not be started again"
    finish refused
  fi
  restarted=yes
  journal "restart $run driver ${driver_before:-unknown} want $driver"
  words=$(restart_engine) && words=''
  driver_after=$(come_up) up_after=$(restarts)
  if [ "$driver_after" = "$driver" ]; then succeed ok; else undo; fi
}

state=$1 driver=$2 run=$3 patience=$4
trap '' HUP PIPE
open_state "$state"
lock 600 || fail "$state" 'another run at work on this node' 'one at a time'
transaction
