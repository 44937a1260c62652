# shellcheck shell=sh
# shellcheck disable=SC2154 # $state is set by open_state (state.sh)
# One at a time on a node. The kernel drops a flock(2) when its holder ends, however it ends.

if command -v flock >/dev/null 2>&1; then
  try_lock() { exec 9>>"$state/lock" && flock -n 9; }
  unlock() { exec 9>&-; }
else
  # No flock (a busybox without it): a symbolic link that names its owner is made in one step.
  # Start time and boot id tell a dead owner from a process that got its number.
  started() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }
  try_lock() {
    boot=$(cat /proc/sys/kernel/random/boot_id)
    ln -s "$$ $(started $$) $boot" "$state/lock.owner" 2>/dev/null && return 0
    owner=$(readlink "$state/lock.owner") || return 1
    [ "${owner#* }" = "$(started "${owner%% *}") $boot" ] && return 1
    mv "$state/lock.owner" "$state/lock.dead.$$" && rm -f "$state/lock.dead.$$"
    ln -s "$$ $(started $$) $boot" "$state/lock.owner" 2>/dev/null
  }
  unlock() {
    owner=$(readlink "$state/lock.owner") || return 0
    [ "${owner%% *}" != "$$" ] || rm -f "$state/lock.owner"
  }
fi

lock() { # seconds to wait
  left=$1
  until try_lock; do
    [ "$left" -gt 0 ] || return 1
    left=$((left - 1))
    sleep 1
  done
}

# Whether nobody holds it now.
lock_free() { (try_lock && unlock); }
