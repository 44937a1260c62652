"""As much of a Kubernetes API server as ``kubectl get`` needs, over the objects of tests/clusters.

Paths and shapes are those of kubernetes.io's API concepts: discovery, lists, Status.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml
from typing_extensions import override

_GROUPS = {
    "v1": {"nodes": "Node", "pods": "Pod", "configmaps": "ConfigMap"},
    "apps/v1": {"deployments": "Deployment", "daemonsets": "DaemonSet"},
    "nvidia.com/v1": {"clusterpolicies": "ClusterPolicy"},
}
_CLUSTERWIDE = {"nodes", "clusterpolicies"}


class Server(ThreadingHTTPServer):
    """``objects`` are those of one cluster, ``forbidden`` the kinds that nobody may list."""

    daemon_threads = True
    objects: dict[str, Any]
    forbidden: set[str]
    asked: list[str]


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.server.asked.append(url.path)
        code, body = self._answer(url.path.strip("/").split("/"), parse_qs(url.query))
        content = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""

    def _answer(self, path: list[str], query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        if path == ["api"]:
            return 200, {"kind": "APIVersions", "versions": ["v1"]}
        if path == ["apis"]:
            return 200, {"kind": "APIGroupList", "groups": list(self._groups())}
        version = "/".join(path[1:2] if path[0] == "api" else path[1:3])
        rest = path[2:] if path[0] == "api" else path[3:]
        if version in _GROUPS and not rest:
            return 200, self._resources(version)
        if rest[:1] == ["namespaces"] and len(rest) == 4:
            return self._one(rest[1], rest[2], rest[3])
        if rest[:1] == ["nodes"] and rest[2:] == ["proxy", "configz"]:
            return self._configz()
        if len(rest) == 1:
            return self._list(version, rest[0], query)
        return 404, _status(404, "NotFound", "the server could not find the requested resource")

    def _groups(self) -> Iterator[dict[str, Any]]:
        for version in _GROUPS:
            if "/" in version and self._has(version):
                named = {"groupVersion": version, "version": version.partition("/")[2]}
                group = version.partition("/")[0]
                yield {"name": group, "versions": [named], "preferredVersion": named}

    def _has(self, version: str) -> bool:
        return any(self.server.objects.get(kind) is not None for kind in _GROUPS[version])

    def _resources(self, version: str) -> dict[str, Any]:
        resources = [
            {
                "name": name,
                "singularName": kind.lower(),
                "namespaced": name not in _CLUSTERWIDE,
                "kind": kind,
                "verbs": ["get", "list"],
            }
            for name, kind in _GROUPS[version].items()
        ]
        return {"kind": "APIResourceList", "groupVersion": version, "resources": resources}

    def _list(
        self, version: str, name: str, query: dict[str, list[str]]
    ) -> tuple[int, dict[str, Any]]:
        if name in self.server.forbidden:
            return 403, _forbidden(name)
        kind = _GROUPS[version][name]
        listed = self.server.objects.get(name) or []
        wanted = [
            f for f in query.get("fieldSelector", [""])[0].split(",") if "metadata.name=" in f
        ]
        for selector in wanted:
            listed = [o for o in listed if o["metadata"]["name"] == selector.partition("=")[2]]
        full = [{**one, "kind": kind, "apiVersion": version} for one in listed]
        return 200, {"kind": f"{kind}List", "apiVersion": version, "metadata": {}, "items": full}

    def _one(self, space: str, name: str, wanted: str) -> tuple[int, dict[str, Any]]:
        for one in self.server.objects.get(name) or []:
            if (one["metadata"]["namespace"], one["metadata"]["name"]) == (space, wanted):
                return 200, {**one, "kind": _GROUPS["v1"][name], "apiVersion": "v1"}
        return 404, _status(404, "NotFound", f'{name} "{wanted}" not found')

    def _configz(self) -> tuple[int, dict[str, Any]]:
        if "nodes/proxy" in self.server.forbidden:
            return 403, _forbidden("nodes/proxy")
        return 200, {"kubeletconfig": self.server.objects["kubelet"]}


def _forbidden(what: str) -> dict[str, Any]:
    name, _, below = what.partition("/")
    resource = f'resource "{name}{"/" * bool(below)}{below}"'
    verb = "get" if below else "list"
    return _status(
        403,
        "Forbidden",
        f'{name} is forbidden: User "auditor" cannot {verb} {resource} in API group "" at the'
        " cluster scope",
    )


def _status(code: int, reason: str, message: str) -> dict[str, Any]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }


@contextmanager
def serving(objects: dict[str, Any], forbidden: set[str] | None = None) -> Iterator[Server]:
    """A server on this machine for the time of a test."""
    server = Server(("127.0.0.1", 0), _Handler)
    server.objects, server.forbidden, server.asked = objects, forbidden or set(), []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def kubeconfig(path: Path, address: str) -> Path:
    """A kubeconfig (kubernetes.io, Config v1) for a server without a login."""
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "lab", "cluster": {"server": address}}],
                "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "auditor"}}],
                "users": [{"name": "auditor", "user": {}}],
                "current-context": "lab",
            }
        )
    )
    return path
