"""How Docker's client is asked: for this node's own engine, and none that asking would start."""

from __future__ import annotations

ELSEWHERE = (
    "DOCKER_HOST",
    "DOCKER_TLS",
    "DOCKER_TLS_VERIFY",
    "DOCKER_CERT_PATH",
    "DOCKER_API_VERSION",
)
"""What names another node's engine, its certificates, or an API that this one does not speak
(docker(1), environment variables); a context may do so too."""

# With dockerd stopped and docker.socket listening, whoever asks starts it (systemd.socket(5)).
GUARD = f"""
unset {" ".join(ELSEWHERE)}
DOCKER_CONTEXT=default
export DOCKER_CONTEXT
if [ -d /run/systemd/system ] && ! grep -qs '^[^:]*:dockerd$' "$COMMS" &&
  systemctl is-active --quiet docker.socket; then
  echo 'dockerd is stopped, and its socket would start it' >&2
  exit 1
fi
"""
