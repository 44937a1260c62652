#!/bin/sh
# What the last audit says of this node, in the exit codes that node-problem-detector and kured read.
#
#   nvml-signal.sh npd broken|'at risk'|reboot TEXTFILE   0 no, 1 yes, 2 could not tell
#   nvml-signal.sh kured SENTINEL TEXTFILE                0 reboot, 1 no, 2 could not tell, 3 held back
#
# TEXTFILE is what the audit of this node wrote with --textfile: everything in it was judged there.
# It needs a shell, tr and date: node-problem-detector's container has no Python, and 10 ms of CPU a
# second. docs/kubernetes-signals.md
set -u
LC_ALL=C
PATH="${PATH:-/bin}:/usr/sbin:/usr/bin:/sbin:/bin"
export LC_ALL PATH

# node-problem-detector cuts a longer message (max_output_length).
LONGEST=80

end() { # exit code, text
  [ "$caller" = npd ] || LONGEST=300
  printf "%.${LONGEST}s\n" "$(printf %s "$2" | tr -c '\40-\176' ' ')"
  exit "$1"
}

unknown() {
  # Whoever set the sentinel wants the reboot without us too.
  if [ "$caller" = kured ] && [ -e "$wanted" ]; then
    end 0 "reboot: $(sentinel); could not tell of the driver: $1"
  fi
  end 2 "could not tell: $1"
}

sentinel() { printf '%s: %s' "$wanted" "$(head -n 5 "$wanted" 2>&1)"; }

whole() { # sets $number to a number of the textfile, 3600.0 or 1.796040009e+09, without its fraction
  number=''
  case $1 in
  *[!0-9.e+]* | *e*e* | *.*.*) ;;
  *e+*)
    mantissa=${1%e+*} exponent=${1#*e+}
    digits=${mantissa%%.*} exponent=${exponent#0}
    fraction=${mantissa#"$digits"} fraction=${fraction#.}
    while [ ${#fraction} -lt "$exponent" ]; do fraction=${fraction}0; done
    while [ ${#fraction} -gt "$exponent" ]; do fraction=${fraction%?}; done
    number=$digits$fraction
    ;;
  *) number=${1%%.*} ;;
  esac
}

check_of() { # sets $name to the check of a series
  name=${1#*check=\"}
  name=${name%%\"*}
}

# Label values cannot end the line: prometheus-client writes a new line in one as \n.
read_textfile() {
  [ -e "$textfile" ] || unknown "no $textfile"
  if [ ! -r "$textfile" ] || [ ! -f "$textfile" ]; then unknown "cannot read $textfile"; fi
  while read -r line; do
    case $line in
    'pyinfra_nvml_audit_timestamp_seconds '*) whole "${line##* }" && at=$number ;;
    'pyinfra_nvml_expected_interval_seconds '*) whole "${line##* }" && interval=$number ;;
    'pyinfra_nvml_node_answered{'*' 0.0') nodes=$((nodes + 1)) silent=yes ;;
    'pyinfra_nvml_node_answered{'*) nodes=$((nodes + 1)) ;;
    'pyinfra_nvml_reboot_required{'*) reboot=$line ;;
    'pyinfra_nvml_check_status{'*'status="unknown"'*) check_of "$line" && doubted="$doubted $name" ;;
    'pyinfra_nvml_check_status{'*'level="broken"'*) check_of "$line" && broken="$broken $name" ;;
    'pyinfra_nvml_check_status{'*'level="at risk"'*) check_of "$line" && at_risk="$at_risk $name" ;;
    esac
  done <"$textfile"
}

judge_age() {
  if [ -z "$at" ] || [ -z "$interval" ]; then unknown "$textfile has no time of an audit"; fi
  age=$(($(date +%s) - at))
  [ "$age" -le $((2 * interval)) ] || unknown "last audit $age s ago, want at most $((2 * interval))"
  [ "$age" -ge -300 ] || unknown "an audit $((-age)) s from now, want the clock of its time"
  [ "$nodes" = 1 ] || unknown "$nodes nodes in $textfile, want this one alone"
  [ -z "$silent" ] || unknown 'this node did not answer its audit'
}

reason_of() { # sets $reason to that of the reboot
  reason=${1#*reason=\"}
  reason=${reason%\"\} *}
}

npd() {
  case $wanted in
  broken) found=$broken ;;
  'at risk') found=$at_risk ;;
  reboot)
    case $reboot in
    *' 1.0') reason_of "$reboot" && end 1 "reboot: $reason" ;;
    *' 0.0') end 0 'no reboot wanted' ;;
    *) unknown 'whether the driver waits for a reboot' ;;
    esac
    ;;
  *) unknown "saw $wanted, want broken, 'at risk' or reboot" ;;
  esac
  [ -z "$found" ] || end 1 "$wanted:$found"
  [ -z "$doubted" ] || unknown "${doubted# }"
  end 0 "not $wanted"
}

kured() {
  case " $at_risk " in
  *' driver-skew '*) end 3 'held back: driver-skew is at risk, the next boot may have no driver' ;;
  esac
  case $reboot in
  *' 1.0') reason_of "$reboot" && end 0 "reboot: $reason" ;;
  *' 0.0') [ -e "$wanted" ] || end 1 'no reboot wanted' ;;
  *) unknown 'whether the driver waits for a reboot' ;;
  esac
  end 0 "reboot: $(sentinel)"
}

caller=${1-} wanted=${2-} textfile=${3-}
at='' interval=86400 nodes=0 silent='' reboot='' doubted='' broken='' at_risk=''
case $caller in
npd | kured) ;;
*) unknown "saw '$caller', want npd or kured" ;;
esac
[ -n "$textfile" ] || unknown 'saw no textfile, want the path of one'
read_textfile
judge_age
"$caller"
