# shellcheck shell=sh
# shellcheck disable=SC2154 # $patience, seconds that a start may take, is restart_docker.sh's
# The engine: what it says, its restart, why it did not come up. Never `systemctl daemon-reload`:
# that is what takes the devices away.

has_systemd() { [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1; }

live_driver() { limited 20 docker info --format '{{.CgroupDriver}}' 2>/dev/null | head -n 1; }

unit() { limited 20 systemctl show docker.service -p "$1" 2>/dev/null | sed "s/^$1=//"; }

# A time span as systemctl shows it (1min 30s, infinity), in seconds, at most ten minutes.
seconds() {
  total=0
  for word in $1; do
    number=${word%%[!0-9]*}
    case $word in
      *ms | *us) ;;
      *min) total=$((total + number * 60)) ;;
      [0-9]*s) total=$((total + number)) ;;
      *) total=600 ;;
    esac
  done
  [ "$total" -le 600 ] || total=600
  echo "$total"
}

# What the stop may take; docker.service of Docker's packages leaves it at systemd's 90 s.
stop_limit() {
  if has_systemd; then seconds "$(unit TimeoutStopUSec)"; else echo 90; fi
}

# Whether someone stopped it on purpose: a crash leaves the unit "failed" or "activating".
stopped() { has_systemd && [ "$(unit ActiveState)" = inactive ]; }

# Whether systemd holds it for up: an engine that does not answer has its containers all the same.
up() { has_systemd && [ "$(unit ActiveState)" = active ]; }

# Whether the program is there that systemd would start; sets $program.
startable() {
  program=
  ! has_systemd || program=$(unit ExecStart | sed -n 's/^{ path=\([^ ]*\) ;.*/\1/p' | head -n 1)
  [ -z "$program" ] || [ -x "$program" ]
}

# Whether the engine that answers is the one that a restart of docker.service would restart.
is_ours() { ! has_systemd || [ "$(unit MainPID)" != 0 ]; }

# The lock's descriptor is closed: a dockerd that inherits it would hold the lock for ever.
restart_engine() {
  if has_systemd; then
    # A used-up start limit (3 starts in 60 s) would stop it for good.
    limited 20 systemctl reset-failed docker.service docker.socket 2>/dev/null
    limited "$(($(stop_limit) + patience))" systemctl restart docker.service 9>&- 2>&1
  elif command -v service >/dev/null 2>&1; then
    limited "$(($(stop_limit) + patience))" service docker restart 9>&- 2>&1
  else
    limited "$(($(stop_limit) + patience))" /etc/init.d/docker restart 9>&- 2>&1
  fi </dev/null
}

# systemd's start limit ends most of it (docker.service: 3 starts in 60 s); where there is none, five
# restarts since the last reset-failed do (NRestarts: systemd 235).
given_up() {
  has_systemd || return 1
  [ "$(unit ActiveState)" != failed ] || return 0
  [ "$(restarts)" -ge 5 ]
}

# How often systemd has started it again since the last reset-failed.
restarts() {
  tries=
  ! has_systemd || tries=$(unit NRestarts)
  echo "${tries:-0}"
}

# Seconds that no clock set meanwhile can change (proc(5), uptime).
monotonic() { cut -d . -f 1 /proc/uptime; }

# The driver that the engine comes up with, or nothing: it failed, or did not answer in time.
come_up() {
  answer='' deadline=$(($(monotonic) + patience))
  while [ "$(monotonic)" -lt "$deadline" ]; do
    answer=$(live_driver)
    [ -z "$answer" ] || break
    ! given_up || break
    sleep 1
  done
  echo "$answer"
}

# The engine's own words since this time: what it died of, or its last lines. systemd's words on
# the unit say only that it died; they stand in where the engine said nothing.
why_down() { # seconds since 1970
  if has_systemd; then
    lines=$(limited 20 journalctl _SYSTEMD_UNIT=docker.service --since "@$1" -n 300 -o cat \
      --no-pager --quiet)
    [ -n "$lines" ] ||
      lines=$(limited 20 journalctl -u docker.service --since "@$1" -n 300 -o cat --no-pager)
  else
    lines=$(tail -n 50 /var/log/docker.log 2>/dev/null)
  fi
  told=$(printf '%s\n' "$lines" |
    grep -e 'failed to start' -e 'unable to configure' -e 'level=fatal' -e 'not supported')
  printf '%s\n' "${told:-$lines}" | grep -v '^$' | tail -n 5 | uniq
}
