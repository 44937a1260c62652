# shellcheck shell=sh
# Puts the files of the scheduled audit in place and starts its timer, without a daemon-reload.
#
# systemd reads a unit that it does not know from the disk when it is started. A stopped timer that
# nothing wants is forgotten within moments, and read again at the next start (seen on systemd 252,
# 257 and 262). So no unit of ours may be wanted by a target but the one that never changes.
#
# Arguments: "systemd" or "cron", user, whether that user is made here (yes, no), directory of the
# results, directory of the textfile or "-". Standard input: lines "MODE PATH BASE64",
# "link PATH TARGET", "absent PATH -".

unit=pyinfra-nvml-drift

known_user() {
  id -u "$user" >/dev/null 2>&1 && return
  [ "$create" = yes ] || fail "user $user" 'no such user' 'a user of this node (drift_user)'
  shell=$(command -v nologin || echo /bin/false)
  if command -v useradd >/dev/null 2>&1; then
    said=$(useradd --system --user-group --home-dir "$results" --shell "$shell" "$user" 2>&1)
  else
    said=$(adduser -S -D -H -h "$results" -s "$shell" "$user" 2>&1)
  fi || fail "user $user" "$(printf %s "$said" | one_line)" 'it made'
}

# What is in it may be of another user, where the setting drift_user was changed.
own_results() {
  [ ! -L "$results" ] || fail "$results" 'a symbolic link' 'a directory'
  mkdir -p "$results" || fail "$results" 'it cannot be made' 'a directory'
  chmod 0755 "$results"
  [ "$(stat -c %u "$results")" = "$(id -u "$user")" ] || chown -hR "$user" "$results"
}

may_write_textfile() {
  [ "$textfile" != - ] || return 0
  [ -d "$textfile" ] || fail "$textfile" 'no such directory' "that of node_exporter's textfile collector"
  # shellcheck disable=SC2016 # that user's shell reads it
  [ "$user" = root ] || TEXTFILE=$textfile su -s /bin/sh "$user" -c 'test -w "$TEXTFILE"' ||
    fail "$textfile" "user $user may not write there" 'it to (chgrp, chmod g+w)'
}

same() { # mode, path, base64
  [ -f "$2" ] && [ ! -L "$2" ] && [ "$(stat -c %a "$2")" = "$1" ] &&
    [ "$(printf %s "$3" | base64 -d | sha256sum)" = "$(sha256sum <"$2")" ]
}

filled() {
  printf %s "$3" | base64 -d >"$2.pyinfra-nvml" && chmod "$1" "$2.pyinfra-nvml" &&
    mv -f "$2.pyinfra-nvml" "$2"
}

put() { # mode, path, base64
  mkdir -p "${2%/*}" || fail "${2%/*}" 'it cannot be made' 'a directory'
  if ! filled "$@"; then
    rm -f "$2.pyinfra-nvml"
    fail "$2" 'it cannot be written' 'room on a disk that is not read-only'
  fi
  ! command -v restorecon >/dev/null 2>&1 || restorecon "$2" 2>/dev/null
}

# A run at work holds the units in systemd's memory; its results are written at its end, or not.
halt() {
  [ "$scheduler" = systemd ] && [ -z "$halted" ] || return 0
  halted=yes
  systemctl stop $unit.timer $unit.service 2>/dev/null
  systemctl reset-failed $unit.timer $unit.service 2>/dev/null
}

place() { # one line of the input
  case $1 in
    link)
      [ "$(readlink "$2")" = "$3" ] && return
      if ! { mkdir -p "${2%/*}" && ln -sfn "$3" "$2"; }; then
        fail "$2" 'it cannot be made' "a link to $3"
      fi
      ;;
    absent)
      [ -e "$2" ] || [ -L "$2" ] || return
      rm -f "$2"
      ;;
    *)
      same "$@" && return
      case $2 in /etc/systemd/*) halt ;; esac
      put "$@"
      ;;
  esac
  echo "changed $2"
}

# Until systemd has forgotten the old form, a start brings it back.
start() {
  tries=0
  while :; do
    said=$(systemctl start $unit.timer 2>&1) ||
      fail $unit.timer "$(printf %s "$said" | one_line)" 'it started'
    case $(systemctl show -p NeedDaemonReload $unit.timer $unit.service) in
      *=yes*) ;;
      *) return ;;
    esac
    tries=$((tries + 1))
    [ $tries -le 5 ] || fail $unit.timer 'systemd still has the old unit loaded' \
      'the new one, which comes at the next boot or daemon-reload: that takes GPUs from exposed containers'
    systemctl stop $unit.timer $unit.service 2>/dev/null
    systemctl reset-failed $unit.timer $unit.service 2>/dev/null
    sleep 1
  done
}

scheduler=$1 user=$2 create=$3 results=$4 textfile=$5 halted=''
umask 022
[ "$(id -u)" = 0 ] || fail "$unit" "user id $(id -u)" 'root (_sudo=True)'
known_user
own_results
may_write_textfile
before='' after=''
while read -r what path text; do
  before="$before $(metrics_of "$path")"
  place "$what" "$path" "$text"
  after="$after $(metrics_of "$path")"
done
for path in $before; do
  case " $after " in *" $path "*) ;; *) no_metrics "$path" ;; esac
done
[ "$scheduler" != systemd ] || start
