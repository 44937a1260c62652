# shellcheck shell=sh
# Takes the files of the scheduled audit away, its timer first, without a daemon-reload.
#
# Arguments: the paths. Results and the user stay.

unit=pyinfra-nvml-drift
[ "$(id -u)" = 0 ] || fail "$unit" "user id $(id -u)" 'root (_sudo=True)'
if [ -d /run/systemd/system ]; then
  systemctl stop $unit.timer $unit.service 2>/dev/null
  systemctl reset-failed $unit.timer $unit.service 2>/dev/null
  ! systemctl is-active --quiet $unit.timer || fail "$unit.timer" 'it runs' 'it stopped'
fi
metrics=$(for path in "$@"; do metrics_of "$path"; done)
for path in $metrics; do no_metrics "$path"; done
for path in "$@"; do
  [ -e "$path" ] || [ -L "$path" ] || continue
  rm -f "$path" || fail "$path" 'it cannot be removed' 'it gone'
  echo "removed $path"
done
rmdir /etc/pyinfra-nvml 2>/dev/null || :
rm -f /var/lib/systemd/timers/stamp-$unit.timer
