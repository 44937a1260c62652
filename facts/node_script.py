"""The POSIX sh script that asks a node: every probe at once, their answers in one frame.

Every command runs in the background with a time limit, so that the whole takes as long as the
slowest one. Commands of one limit are subshells of one shell under one timeout(1): a fork each, and
a command that ends or exits its shell takes no other with it. Each command's output goes to a file
of a private directory, and from there into the frame (facts/probe.py).

What is stuck in the kernel (state D, seen with nvidia-smi after Xid 79) survives SIGKILL: it is
reported as ``hung`` and left behind in the background. Runs in dash, bash and busybox ash, with
or without root, and writes nothing outside its private directory, which it removes.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pyinfra_nvml.facts.probe import PROTOCOL, Probe

NOT_CSH = '\ntest "$?shell" = 1 && exec false\n'
"""The first lines of every script: what ends csh and tcsh (csh(1), the variable shell).

As a user's login shell these find no end of a quoted word on its line, and would take each line of
the script for a command of their own. In sh this is the last exit status with a word behind it.
``exit`` does not end a tcsh that has found a fault on the line before (6.24).
"""

GRACE = 3
"""Seconds between the longest limit and giving up on a command that SIGKILL did not end."""


def node_script(probes: Sequence[Probe]) -> str:
    """The sh script that runs these probes at once and prints their framed answers."""
    limits = sorted({probe.limit for probe in probes})
    lines = [
        NOT_CSH + _HEAD.replace("@PROTOCOL@", str(PROTOCOL)).replace("@EACH@", shlex.quote(_EACH))
    ]
    lines += [_start(limit, [one for one in probes if one.limit == limit]) for limit in limits]
    lines += [f"collect {len(limits)} {max(limits, default=0) + GRACE}"]
    lines += ["show " + " ".join(f"{probe.name}:{probe.cap * 1024}" for probe in probes)]
    lines += [f"echo '@end {len(probes)}'"]
    return "\n".join(lines) + "\n"


def limit(probes: Sequence[Probe]) -> int:
    """Seconds after which the script has ended whatever its commands do."""
    return max((probe.limit for probe in probes), default=0) + GRACE


def _start(limit: int, probes: Sequence[Probe]) -> str:
    words = [f"{probe.name} {probe.cap * 2} {shlex.quote(probe.command)}" for probe in probes]
    return " \\\n".join([f"start {limit}", *words])


# The commands of one limit, in a shell under one timeout(1): busybox's ends that shell alone,
# coreutils' its children too. ulimit -f counts 512-byte blocks (POSIX sh); what writes more gets
# SIGXFSZ and says no status of its own.
_EACH = r"""
started=
trap 'for late in $started; do [ -s "$ANSWERS/${late%:*}.rc" ] || kill "${late#*:}"; done' TERM
while [ $# -gt 0 ]; do
  (
    ANSWER=$ANSWERS/$1
    trap 'exit 124' TERM
    trap 'echo $? >"$ANSWER.rc"' EXIT
    ulimit -f "$2"
    asked=$3
    shift $#
    eval "$asked"
  ) >"$ANSWERS/$1.out" 2>"$ANSWERS/$1.err" </dev/null &
  started="$started $1:$!"
  shift 3
done
for one in $started; do
  wait "${one#*:}"
  rc=$?
  [ -s "$ANSWERS/${one%:*}.rc" ] || echo $rc >"$ANSWERS/${one%:*}.rc"
done
wait
"""

_HEAD = r"""
echo '@node @PROTOCOL@'
LC_ALL=C; export LC_ALL
PATH="${PATH:-/bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin:/run/current-system/sw/bin"
export PATH
umask 077
dir=
for base in /run /dev/shm "${TMPDIR:-/tmp}" /var/tmp; do
  dir=$(mktemp -d "$base/pyinfra-nvml.XXXXXX" 2>/dev/null) && break
done
[ -d "$dir" ] || { echo 'temporary directory: none in /run /dev/shm /tmp /var/tmp' >&2; exit 73; }
ticker=
trap 'kill $ticker 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 129' HUP INT TERM PIPE
mkfifo "$dir/done" && exec 3<>"$dir/done" || exit 73
# Asked once for all: who asks, the machine, and "/proc/PID/comm:NAME".
ASKER=$(id -u) MACHINE=$(uname -m) COMMS=$dir/comms ANSWERS=$dir
# Less garbage collection: a fifth of the start of containerd and of Docker 20.10's client.
GOGC=400
export ASKER MACHINE COMMS ANSWERS GOGC
grep -H '' /proc/[0-9]*/comm >"$COMMS" 2>/dev/null
limited() { shift; "$@"; }
if timeout -k 2 5 true 2>/dev/null; then
  limited() { timeout -k 2 "$@"; }
fi
each=@EACH@
start() {
  (
    seconds=$1
    shift
    limited "$seconds" sh -c "$each" sh "$@" </dev/null 3>&-
    rc=$?
    case $rc in
      124 | 137 | 143)
        while [ $# -gt 0 ]; do
          [ -s "$dir/$1.rc" ] || echo $rc >"$dir/$1.rc"
          shift 3
        done ;;
    esac
    echo done >&3
  ) >/dev/null 2>&1 &
}
collect() {
  me=$$
  ( exec >/dev/null 2>&1; while kill -0 $me; do sleep 1; echo tick >&3; done ) &
  ticker=$!
  left=$1 seconds=0
  while [ "$left" -gt 0 ] && [ "$seconds" -lt "$2" ]; do
    read -r word <&3 || break
    case $word in
      done) left=$((left - 1)) ;;
      tick) seconds=$((seconds + 1)) ;;
    esac
  done
}
# All answers go through three processes together; wc's counts tell awk which line is whose.
show() {
  [ $# -gt 0 ] || return 0
  : >"$dir/list"
  echo >"$dir/newline"
  for probe; do
    name=${probe%:*} rc=hung
    [ ! -s "$dir/$name.rc" ] || read -r rc <"$dir/$name.rc"
    for file in "$dir/$name.out" "$dir/$name.err"; do
      # What is hung may still write: its answer as it is now.
      if [ ! -e "$file" ]; then : >"$file"
      elif [ "$rc" = hung ]; then cat "$file" >"$file.now"; mv -f "$file.now" "$file"
      fi
    done
    echo "$name $rc ${probe#*:}" >>"$dir/list"
  done
  cd "$dir" && for probe; do
    shift
    set -- "$@" "${probe%:*}.out" newline "${probe%:*}.err" newline
  done
  wc -c "$@" >sizes
  cat "$@" | tr -c '\11\12\40-\176' '?' | awk '
    step == 1 { size[$2] = $1 }
    step == 2 { name[++count] = $1; rc[count] = $2; cap[count] = $3 }
    step < 3 { next }
    left == 0 && mark == "|" { mark = "!"; left = size[name[at] ".err"] + 1; told = 0 }
    left == 0 {
      at++; mark = "|"; told = 0
      bytes = size[name[at] ".out"]; left = bytes + 1
      print "@" name[at] " rc=" rc[at] " cut=" (bytes > 0 && bytes >= cap[at] + 0)
    }
    { left -= length($0) + 1 }
    mark == "|" { print mark $0; next }
    told < 4096 { print mark substr($0, 1, 4096 - told) }
    { told += length($0) + 1 }
  ' step=1 sizes step=2 list step=3 -
}
"""
