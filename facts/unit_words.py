"""The command line in docker.service's files and environment files, by its options alone.

Values may be secrets (proxies, tokens of log drivers). Only those leave the node that name a
file, a directory, a runtime, a control group or a driver.
"""

from __future__ import annotations

import re

from pyinfra_nvml.model.unknown import Unknown

_KEPT = "config-file|data-root|default-runtime|add-runtime|cgroup-parent|live-restore|host|exec-opt"
_OPTION = (
    rf"[^a-zA-Z0-9.:/_-]--({_KEPT})[= ][a-zA-Z0-9/.][a-zA-Z0-9/._=:@-]*"
    r"|[^a-zA-Z0-9.:/_-]--?[a-zA-Z][a-zA-Z-]*(=true|=false)?"
)
_ENVIRONMENT = rf"^[A-Za-z_][A-Za-z0-9_]*|{_OPTION}"
_LINE = rf"^[^ ]+|\$\{{?[A-Za-z_][A-Za-z0-9_]*\}}?|{_OPTION}"

ENVIRONMENT = rf"""
environment() {{
  [ -e "$1" ] || return 0
  echo "file $1"
  if [ ! -f "$1" ] || [ ! -r "$1" ]; then
    echo unreadable
    return 0
  fi
  grep -vE '^ *[#;]' "$1" | grep -oE '{_ENVIRONMENT}' | sed 's/^/word /'
}}
assignments() {{
  echo 'file Environment='
  tr "\047" '"' | grep -oE '"[^"]*"|[^" ]+' | tr -d '"' | sed -E 's/^([^A-Za-z_]|native\.)/ &/' |
    grep -oE '{_ENVIRONMENT}' | sed 's/^/word /'
}}
"""
"""Shell: functions that print the variables of an environment file, and of the unit's own
``Environment=`` on standard input (systemd.exec(5))."""

# The first unit file of this order counts, and every *.conf of docker.service.d by its name, of
# equal names the first; a link to /dev/null stands for none (systemd.unit(5)).
_PLACES = (
    "/etc/systemd/system.control /run/systemd/system.control /run/systemd/transient"
    " /etc/systemd/system /run/systemd/system /usr/local/lib/systemd/system"
    " /usr/lib/systemd/system /lib/systemd/system"
)

ON_DISK = rf"""
first() {{
  for place in {_PLACES}; do
    if [ -e "$place/$1" ] || [ -L "$place/$1" ]; then
      echo "$place/$1"
      return
    fi
  done
}}
setting() {{
  line=${{1#*=}} line=${{line#"${{line%%[! ]*}}"}}
}}
{{
  echo docker.service
  for place in {_PLACES}; do ls "$place/docker.service.d"; done 2>/dev/null |
    grep '\.conf$' | sort -u | sed 's,^,docker.service.d/,'
}} | while IFS= read -r name; do
  file=$(first "$name")
  [ "$(readlink -f "$file")" != /dev/null ] || continue
  echo "disk $file"
  if [ ! -f "$file" ] || [ ! -r "$file" ] || [ "$(stat -L -c %u "$file")" != 0 ]; then
    echo unreadable
    continue
  fi
  sed -e :more -e '/\\$/{{' -e N -e 's/\\\n */ /' -e 'b more' -e '}}' "$file" |
    while IFS= read -r line; do
      case $line in
        ExecStart=* | ExecStart\ =*)
          setting "$line"
          echo start
          printf '%s\n' "$line" | grep -oE '{_LINE}' | sed 's/^/word /'
          ;;
        Environment=* | Environment\ =*)
          setting "$line"
          printf '%s\n' "$line" | assignments
          echo "disk $file"
          ;;
        EnvironmentFile=* | EnvironmentFile\ =*)
          setting "$line"
          case $line in
            *[*%?]*) echo unreadable ;;
            *) environment "${{line#-}}" ;;
          esac
          echo "disk $file"
          ;;
      esac
    done
done
"""
"""Shell: the unit file and the drop-ins of docker.service as they lie on the disk, root's alone."""


def expand_variables(line: list[str], variables: dict[str, list[str]]) -> tuple[str, ...]:
    """A command line with the options that are in its variables."""
    words: list[str] = []
    for word in line:
        name = re.fullmatch(r"\$\{?(\w+)\}?", word)
        words += variables.get(name[1], []) if name else [word]
    return tuple(words)


def variables(text: str) -> dict[str, list[str]]:
    """Variable to the options in it, of all environment files; the last file counts."""
    found: dict[str, list[str]] = {}
    name, inside = "", False
    for key, _, rest in (line.partition(" ") for line in text.splitlines()):
        if key in ("file", "disk", "start"):
            name, inside = "", key == "file"
        elif key == "word" and inside:
            words = _words(rest)
            if not words[0].startswith(("-", "native.")):
                name = words[0]
                found[name] = []
            elif name:
                found[name] += words
    return found


def on_disk(text: str) -> tuple[str, ...] | Unknown | None:
    """The command line of the unit's files; ``None`` where none of them has one."""
    line: list[str] | None = None
    place, inside = "", False
    for key, _, rest in (line.partition(" ") for line in text.splitlines()):
        if key in ("file", "disk"):
            place, inside = rest, False
        elif key == "unreadable":
            return Unknown(
                f"{place}: not a readable file of root, and it is a part of docker.service"
            )
        elif key == "start":
            # An empty ExecStart= takes back those before it (systemd.service(5)).
            line, inside = None, True
        elif key == "word" and inside:
            line = [*(line or ()), *_words(rest)]
    return None if line is None else expand_variables(_program(line), variables(text))


def _program(line: list[str]) -> list[str]:
    """The line without the signs before its program (systemd.service(5), special prefixes)."""
    return [line[0].lstrip("@-:+!|"), *line[1:]] if line else line


def _words(said: str) -> list[str]:
    """``--flag value`` as the two words it is, without the quotes and blanks around."""
    word = re.sub(r"^[^a-zA-Z0-9.:/_$@+!|-]+", "", said)
    flag, blank, value = word.partition(" ")
    return [flag, value] if blank else [word]
