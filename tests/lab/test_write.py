"""The write of daemon.json on real nodes: what real files and disks do to it."""

import json
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.remedy import PATH, STATE, WRITE, Remedy
from tests.lab.session import Lab

# Docker 20.10 cannot validate, 26.1 can.
KINDS = ("bookworm", "trixie")


@pytest.fixture(scope="module", params=KINDS)
def remedy(
    request: pytest.FixtureRequest, lab: Lab, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Remedy]:
    node = lab.fresh(request.param)
    yield Remedy(node, tmp_path_factory.mktemp("write"))
    lab.stop(node)


def put(remedy: Remedy, content: bytes | None) -> None:
    """This file on the node, read by no engine yet."""
    remedy.node.sh(f"umount /etc/docker 2>/dev/null; rm -rf {STATE} {PATH}; mkdir -p /etc/docker")
    if content is not None:
        remedy.node.sh(f"cat >{PATH}", stdin=content)


CASES = {
    "absent": (None, b'{\n    "exec-opts": ["native.cgroupdriver=cgroupfs"]\n}\n'),
    "empty": (b"", b'{\n    "exec-opts": ["native.cgroupdriver=cgroupfs"]\n}\n'),
    "two_spaces": (
        b'{\n  "log-level": "warn"\n}',
        b'{\n  "log-level": "warn",\n  "exec-opts": ["native.cgroupdriver=cgroupfs"]\n}',
    ),
    "bom_and_crlf": (
        b'\xef\xbb\xbf{\r\n\t"log-level": "warn"\r\n}\r\n',
        b'\xef\xbb\xbf{\r\n\t"log-level": "warn",\r\n'
        b'\t"exec-opts": ["native.cgroupdriver=cgroupfs"]\r\n}\r\n',
    ),
    "another_driver": (
        b'{"exec-opts": ["Native.CgroupDriver = systemd"], "labels": ["a=b"]}',
        b'{"exec-opts": ["native.cgroupdriver=cgroupfs"], "labels": ["a=b"]}',
    ),
    "unknown_driver": (
        b'{"exec-opts": ["native.cgroupdriver=cgroupsfs"]}\n',
        b'{"exec-opts": ["native.cgroupdriver=cgroupfs"]}\n',
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_only_the_entry_changes(remedy: Remedy, case: str) -> None:
    before, after = CASES[case]
    put(remedy, before)
    done = remedy.run(WRITE)
    assert done.code == 0, done.text
    assert remedy.node.read(PATH) == after
    assert remedy.left_over() == []
    again = remedy.run(WRITE)
    assert again.code == 0
    assert "No changes" in again.text
    assert remedy.node.read(PATH) == after


REFUSED = {
    "trailing_comma": (b'{\n  "debug": true,\n}', "line 2, column 16: saw a comma before }"),
    "duplicate": (b'{"debug": true, "debug": false}', 'column 17: saw the key "debug" a second'),
    "two_objects": (b'{"debug": true}\n{"debug": false}\n', "line 2, column 1: saw '{' after"),
    "long": (b'{"labels": ["' + b"x" * 5_000_000 + b'"]}', "bytes long, want at most 1048576"),
    "hosts": (b'{"hosts": ["tcp://127.0.0.1:2375"]}', "hosts: saw it in the file and as -H"),
    "latin_1": (b'{"labels": ["caf\xe9"]}', "the byte 0xe9, want text in UTF-8"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(remedy: Remedy, case: str) -> None:
    before, words = REFUSED[case]
    put(remedy, before)
    done = remedy.run(WRITE)
    assert done.code == 1
    assert words in done.text
    assert remedy.node.read(PATH) == before
    assert remedy.node.run(f"test -e {STATE}").code == 1


def test_a_link_is_followed_and_kept(remedy: Remedy) -> None:
    put(remedy, None)
    remedy.node.sh(f"mkdir -p /srv/etc; echo '{{}}' >/srv/etc/d.json; ln -s /srv/etc/d.json {PATH}")
    wrote = remedy.run(WRITE)
    assert wrote.code == 0, wrote.text
    assert remedy.node.sh(f"readlink {PATH}") == "/srv/etc/d.json"
    assert json.loads(remedy.node.read("/srv/etc/d.json")) == {
        "exec-opts": ["native.cgroupdriver=cgroupfs"]
    }


def test_a_directory_is_refused(remedy: Remedy) -> None:
    put(remedy, None)
    remedy.node.sh(f"mkdir {PATH}")
    done = remedy.run(WRITE)
    assert done.code == 1
    assert "is directory, not a regular file" in done.text
    remedy.node.sh(f"rmdir {PATH}")


def test_a_full_disk(remedy: Remedy) -> None:
    put(remedy, None)
    remedy.node.sh("mount -t tmpfs -o size=8k tmpfs /etc/docker")
    before = b'{"labels": ["' + b"x" * 4000 + b'"]}'
    remedy.node.sh(f"cat >{PATH}; head -c 9000 /dev/zero >/etc/docker/big; true", stdin=before)
    done = remedy.run(WRITE)
    assert done.code == 1
    assert "No space left on device" in done.text
    assert remedy.node.sh(f"cat {PATH}").encode() == before
    assert remedy.node.sh("ls -A /etc/docker").split() == ["big", "daemon.json"]
    put(remedy, None)


def test_a_read_only_disk(remedy: Remedy) -> None:
    put(remedy, None)
    remedy.node.sh(f"mount -t tmpfs tmpfs /etc/docker; echo '{{}}' >{PATH}")
    remedy.node.sh("mount -o remount,ro /etc/docker")
    done = remedy.run(WRITE)
    assert done.code == 1
    assert "saw /etc/docker/ takes no new file: read-only or immutable" in done.text
    assert remedy.node.sh(f"cat {PATH}") == "{}"
    put(remedy, None)


# system.posix_acl_access, little endian: version 2, then tag, permissions, id of each entry
# (linux/posix_acl_xattr.h): owner rw, user 1234 r, group r, mask r, others nothing.
ACL = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", tag, permissions, who)
    for tag, permissions, who in (
        (0x01, 6, 0xFFFFFFFF),
        (0x02, 4, 1234),
        (0x04, 4, 0xFFFFFFFF),
        (0x10, 4, 0xFFFFFFFF),
        (0x20, 0, 0xFFFFFFFF),
    )
)


def test_mode_owner_attributes_and_acl_are_kept(remedy: Remedy) -> None:
    put(remedy, None)
    # On a tmpfs of the node: an overlay's upper layer may refuse user attributes.
    file = Path(f"{remedy.node.machine.root}{PATH}")
    file.write_bytes(b"{}")
    os.chown(file, 0, 4)
    file.chmod(0o640)
    try:
        os.setxattr(file, "user.origin", b"by hand")
        os.setxattr(file, "system.posix_acl_access", ACL)
    except OSError as reason:
        pytest.skip(f"no attributes on this file system: {reason}")
    done = remedy.run(WRITE)
    assert done.code == 0, done.text
    assert b"cgroupfs" in file.read_bytes()
    assert os.getxattr(file, "user.origin") == b"by hand"
    assert os.getxattr(file, "system.posix_acl_access") == ACL
    assert file.stat().st_gid == 4


def test_two_runs_at_once(remedy: Remedy) -> None:
    put(remedy, b'{"log-level": "warn"}')
    first, second = remedy.start(WRITE), remedy.start(WRITE)
    for process in (first, second):
        process.communicate(timeout=120)
    assert 0 in (first.returncode, second.returncode)
    assert json.loads(remedy.node.read(PATH)) == {
        "log-level": "warn",
        "exec-opts": ["native.cgroupdriver=cgroupfs"],
    }
    assert remedy.left_over() == []
    wrote = remedy.run(WRITE)
    assert wrote.code == 0, wrote.text


def test_nothing_is_readable_for_others(remedy: Remedy) -> None:
    put(remedy, b'{"log-level": "warn"}')
    wrote = remedy.run(WRITE)
    assert wrote.code == 0, wrote.text
    found = remedy.node.sh(f"find {STATE} -perm /077")
    assert found == ""
