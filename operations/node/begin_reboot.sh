# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # containers.sh reads $driver_before and sets $unrecorded
# Notes what runs, and begins the reboot where no connection can end it.
#
# Arguments: state directory, the boot's id as it was read.

# A transient unit needs no daemon-reload (systemd-run(1)); a timer would be up to a minute late
# (systemd.timer(5), AccuracySec). The connection has two seconds to take
# the answer: sshd is among the first to be stopped.
begin() {
  if [ -d /run/systemd/system ] && command -v systemd-run >/dev/null 2>&1; then
    systemctl reset-failed $unit.service 2>/dev/null
    said=$(systemd-run --quiet --unit=$unit sh -c 'sleep 2; exec systemctl reboot' 2>&1) ||
      fail systemd-run "$(printf %s "$said" | one_line)" 'the reboot as a unit of its own'
  elif command -v setsid >/dev/null 2>&1; then
    setsid sh -c 'sleep 2; reboot' </dev/null >/dev/null 2>&1 &
  else
    nohup sh -c 'sleep 2; reboot' </dev/null >/dev/null 2>&1 &
  fi
}

# No list where no engine is: nobody would take it up again. An empty one has nothing to bring back.
note_running() {
  driver_before=$(live_driver)
  [ -n "$driver_before" ] || return 0
  record_running || fail docker "$unrecorded" 'the list of containers to start again'
  [ -s "$state/ran" ] || rm -f "$state/ran"
}

state=$1 boot=$2 unit=pyinfra-nvml-reboot
trap unlock EXIT
trap 'exit 129' HUP INT TERM PIPE
open_state "$state"
lock 30 || fail "$state" 'another run at work on this node' 'one at a time'
[ "$(cat /proc/sys/kernel/random/boot_id)" = "$boot" ] ||
  fail boot 'another one than a moment ago' "boot $boot: it has been rebooted already"
note_running
journal "reboot from boot $boot"
durable "$state/journal" "$state"
begin
echo "reboot from boot $boot"
