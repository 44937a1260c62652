"""TOML files of a node without what they keep secret: their structure, and the values that decide.

containerd's config.toml holds passwords and tokens of registries, and a node has no TOML parser.
awk(1) goes through each file by the words of the format (toml.io, version 1.0.0: strings of four
kinds, comments, keys, values). A string, and what is no word of the format, stays on the node,
unless its key is asked for; behind a fault nothing is shown, since what is a string there is not
sure. A line stays a line, so that the place of a fault is right.

.. code:: text

    /etc/containerd/config.toml:[plugins."io.containerd.grpc.v1.cri".registry.configs."-1".auth]
    /etc/containerd/config.toml:password = "-"
"""

from __future__ import annotations

# Input and output are lines of `grep -H`: a path, a colon, a line of the file. ``depth`` is that of
# brackets within a value, ``wide`` is the delimiter of a string over several lines.
MASK = r'''
function finish() { shown = shown (kept ? quote word quote : masked()) }
function masked() { return iskey ? quote name(word) quote : quote "-" quote }
function name(text) {
  if (text ~ /^(io\.containerd\.[a-z0-9.]+|[A-Za-z0-9_-]+)$/) return text
  if (!(text in names)) names[text] = "-" (++count)
  return names[text]
}
function bare(text) {
  if (iskey) { last = text; return text }
  if (text ~ /^(true|false)$/) return text
  if (text ~ /^[-+]?([0-9][0-9_]*(\.[0-9_]+)?([eE][-+]?[0-9]+)?|inf|nan)$/) return "0"
  return text ~ /^(0[xob][0-9A-Fa-f_]+|[0-9]+-[0-9]+-[0-9]+.*|[0-9]+:[0-9:.]+)$/ ? "0" : "?"
}
function line(text,   n, at, c, rest, end) {
  shown = ""; n = length(text); at = 1
  if (wide == "" && depth == 0) { iskey = 1; header = 0; last = "" }
  while (at <= n) {
    rest = substr(text, at)
    if (wide != "") {
      end = index(rest, wide)
      if (wide == "\"\"\"" && match(rest, /^([^"\\]|\\.|"[^"]|""[^"])*"""/)) end = RLENGTH - 2
      else if (wide == "\"\"\"") end = 0
      if (!end) return
      at += end + 2; shown = shown wide; wide = ""
      while (substr(text, at, 1) == c3) at++
      continue
    }
    c = substr(rest, 1, 1)
    if (c == "#") { shown = shown "#"; return }
    if (c == "\"" || c == "'") {
      c3 = c
      if (!iskey && substr(rest, 1, 3) == c c c) {
        wide = c c c; shown = shown wide; at += 3
        continue
      }
      found = c == "'" ? match(rest, /^'[^']*'/) : match(rest, /^"([^"\\]|\\.)*"/)
      if (!found) {
        shown = shown c; broken = 1
        return
      }
      word = substr(rest, 2, RLENGTH - 2); at += RLENGTH
      kept = !iskey && last ~ ASKED
      quote = c
      if (iskey) last = word
      finish()
      continue
    }
    if (c ~ /[A-Za-z0-9_+-]/) {
      if (iskey) match(rest, /^[A-Za-z0-9_-]+/); else match(rest, /^[A-Za-z0-9_.:+-]+/)
      if (RLENGTH < 1) RLENGTH = 1
      shown = shown bare(substr(rest, 1, RLENGTH)); at += RLENGTH
      continue
    }
    at++
    if (c == "=" && iskey && !header) iskey = 0
    else if (c == "[" && iskey && depth == 0 && !header) header = 1
    else if (c == "[" && !iskey) { stack = stack "["; depth++ }
    else if (c == "{" && !iskey) { stack = stack "{"; depth++; iskey = 1; last = "" }
    else if ((c == "]" || c == "}") && depth > 0 && !header) {
      stack = substr(stack, 1, --depth); iskey = 0
    } else if (c == "," && depth > 0) iskey = substr(stack, depth, 1) == "{"
    if (c !~ /[][{}=,. \t\r]/) { shown = shown "?"; broken = 1; return }
    shown = shown c
  }
}
{
  colon = index($0, ":")
  if (!/^\// || !colon) { print; next }
  path = substr($0, 1, colon)
  if (path != before) { wide = ""; depth = 0; stack = ""; before = path; broken = 0 }
  shown = ""
  if (!broken) line(substr($0, colon + 1))
  print path shown
}
'''


def masked(command: str, *asked: str) -> str:
    """This command, whose output is that of ``grep -H``, with only these keys' strings shown."""
    program = MASK.replace("'", "'\\''")
    return f"{command} | awk -v ASKED='^({'|'.join(asked)})$' '{program}'"
