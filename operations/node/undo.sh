# shellcheck shell=sh
# shellcheck disable=SC2154 # $state is set by open_state (state.sh)
# The daemon.json from before, put back. What is taken out is kept among the backups.

# Prints how it went; succeeds where the file from before is in place.
put_back() { # whether the engine is up: yes, no
  [ -e "$state/written" ] || {
    echo 'no write of ours is open: the file is left as it is'
    return 1
  }
  target=$(value "$state/written" target) backup=$(value "$state/written" backup)
  before=$(value "$state/written" before) there=absent
  [ ! -e "$target" ] || there=$(sum "$target")
  if [ "$there" = "$before" ]; then
    echo "$target is already as it was before"
    return 0
  fi
  if [ "$there" != "$(value "$state/written" after)" ] && [ "$1" = yes ]; then
    echo "$target was changed after our write and the engine is up: left as it is"
    return 1
  fi
  said=$( exchange 2>&1) || {
    echo "$target could not be put back: $(printf %s "$said" | one_line)"
    return 1
  }
  mv -f "$state/written" "$state/written.undone"
  journal "undo $target backup $backup"
  echo "$target put back from $backup"
}

exchange() {
  keep_failed || exit 1
  if [ "$backup" = absent ]; then
    rm -f "$target" || exit 1
    durable "${target%/*}"
    return
  fi
  [ "$(sum "$state/backups/$backup")" = "$before" ] ||
    fail "$state/backups/$backup" 'other bytes than before the write' "sha256 $before"
  (renamed) || in_place
}

# What we wrote can be made again; what someone else made of it cannot.
keep_failed() {
  [ "$there" != absent ] || return 0
  failed=$state/backups/daemon.json.$(now).failed
  cat "$target" >"$failed" && return
  rm -f "$failed"
  [ "$there" = "$(value "$state/written" after)" ]
}

renamed() {
  trap drop_temporary EXIT
  temporary_for "$target"
  cat "$state/backups/$backup" >"$temporary" || exit 1
  put_in_place "$target"
}

# No room for a second file: the blocks of the new one hold the old one, without which the engine
# stays down.
in_place() {
  cat "$state/backups/$backup" >"$target" || exit 1
  [ "$(sum "$target")" = "$before" ] || exit 1
  durable "$target"
}
