# shellcheck shell=sh
# shellcheck disable=SC2154,SC2034 # $driver_before and $state are the calling script's, which reads
# $unrecorded
# The containers: which ran, which are back, which have to be started, in the order of before.

# One line a container, sorted by the time it was started. Go leaves out a fraction's last zeros, so
# its Z has to go before the lines sort. A container of a swarm comes back under another id.
_fields='{{.State.StartedAt}} {{.Id}} {{.Name}} {{or .HostConfig.RestartPolicy.Name "no"}}'
_fields="$_fields {{.HostConfig.AutoRemove}} {{.State.Paused}}"
_fields="$_fields {{with index .Config.Labels \"com.docker.swarm.task.id\"}}swarm{{else}}-{{end}}"

running() {
  ids=$(limited 60 docker ps --quiet --no-trunc 2>/dev/null) || return 1
  [ -n "$ids" ] || return 0
  # shellcheck disable=SC2086 # ids are hexadecimal, one a line
  rows=$(limited 60 docker inspect --format "$_fields" $ids 2>/dev/null)
  # 1: one that ended meanwhile has no row; none at all, or a client that was killed, is no answer.
  [ $? -le 1 ] && [ -n "$rows" ] || return 1
  printf '%s\n' "$rows" | sed 's/Z / /' | sort
}

# Writes down what runs, behind what an interrupted run wrote down and did not bring back.
record_running() { # sets $unrecorded where it fails
  unrecorded='it did not say what runs'
  if ! ran_now=$(running); then
    if [ -n "$driver_before" ] || up; then return 1; fi
  fi
  unrecorded="no room in $state for the list of what runs"
  before_now=''
  [ ! -e "$state/ran" ] || before_now=$(cat "$state/ran") || return 1
  fresh=$(printf '%s\n' "$ran_now" | while read -r started id rest; do
    case $before_now in *" $id "*) continue ;; esac
    [ -z "$id" ] || echo "$started $id $rest"
  done)
  whole "$state/ran.new" "$before_now${before_now:+${fresh:+
}}$fresh" || return 1
  if ! durable "$state/ran.new" || ! mv -f "$state/ran.new" "$state/ran"; then return 1; fi
  durable "$state"
}

# "true false TIME EXIT": running, paused, started, exit code; nothing for one that is gone.
now_of() {
  limited 20 docker inspect --format \
    '{{.State.Running}} {{.State.Paused}} {{.State.StartedAt}} {{.State.ExitCode}}' "$1" 2>/dev/null
}

# dockerd starts those with a policy itself, and may take a while for it.
await_policies() {
  left=20
  while [ "$left" -gt 0 ]; do
    missing=0
    while read -r _ id _ policy _; do
      case $policy in always | unless-stopped) ;; *) continue ;; esac
      case $(now_of "$id" </dev/null) in false*) missing=1 ;; esac
    done <"$state/ran"
    [ "$missing" = 1 ] || return 0
    left=$((left - 1))
    sleep 1
  done
}

# Prints a line a container: id, how it is now, its policy, its name, more words.
bring_back() {
  await_policies
  back=$(while read -r started id name policy remove paused swarm; do
    how=$(bring_back_one "$started" "$id" "$remove" "$swarm" </dev/null)
    [ "$paused" = false ] || [ "${how%% *}" = kept ] || {
      limited 20 docker pause "$id" </dev/null >/dev/null 2>&1 && how="${how%% *} paused-again"
    }
    short=$(printf %.12s "$id")
    echo "$short ${how%% *} $policy ${name#/} ${how#* }"
  done <"$state/ran")
  back=$(printf '%s\n' "$back" | once_more)
  sleep 3
  printf '%s\n' "$back" | while read -r short how policy name rest; do
    after_all "$short" "$how" "$name"
    [ -z "$short" ] || echo "$short $how $policy $name $rest"
  done
}

# One that shares the network of another (--network container:NAME) may have come before it.
once_more() {
  while read -r short how policy name rest; do
    [ "$how" != failed ] || [ -z "$(now_of "$short" </dev/null)" ] || {
      limited 120 docker start "$short" </dev/null >/dev/null 2>&1 && how=started rest=-
    }
    echo "$short $how $policy $name $rest"
  done
}

# A start that docker took and the program did not survive; one that was at its end is no loss. A
# unit or a program beside docker may have made a container of that name anew by now.
after_all() { # id, how, name; sets $how and $rest
  state_now=$(now_of "$1" </dev/null)
  case $2/$state_now in
    started/false*\ 0) rest='it ended at once, exit 0' ;;
    started/false*) how=failed rest="it ended at once, exit ${state_now##* }" ;;
    kept/ | started/ | policy/ | failed/ | removed/)
      case $(now_of "$3" </dev/null) in
        true*) how=renewed rest='another container of its name runs' ;;
        *) [ "$2" = removed ] || how=failed rest='no such container any more' ;;
      esac
      ;;
  esac
}

bring_back_one() { # started, id, removed on stop, swarm
  set -- "$@" "$(now_of "$2")"
  case $4/$3/$5 in
    swarm/*) echo 'swarm -' ;;
    */*/true\ *\ "$1"Z\ *) echo 'kept -' ;;
    */*/true\ *) echo 'policy -' ;;
    */true/*) echo 'removed its --rm took it' ;;
    */*/false\ *)
      if said=$(limited 120 docker start "$2" 2>&1); then
        echo 'started -'
      else
        echo "failed $(printf %s "$said" | one_line 200)"
      fi
      ;;
    *) echo 'failed no such container any more' ;;
  esac
}

# What runs now and did not before: a policy "always" starts even what was stopped by hand.
newly_running() {
  running | while read -r _ id name policy _ _ swarm; do
    grep -q -F -e " $id " -e " $name " "$state/ran" || [ "$swarm" = swarm ] ||
      echo "$(printf %.12s "$id") new $policy ${name#/} -"
  done
}
