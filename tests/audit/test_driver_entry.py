"""The driver's entry: only its span changes, whatever the file looks like."""

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pyinfra_nvml.combiners.daemon_document import Document, Refused, document
from pyinfra_nvml.combiners.driver_entry import (
    KEY,
    Candidate,
    entry_driver,
    with_driver,
)

# A loaded machine is no fault of the code.
PATIENT = settings(deadline=None)

PATH = "/etc/docker/daemon.json"
RIGHT = '"native.cgroupdriver=cgroupfs"'


def merged(before: bytes | None, driver: str = "cgroupfs") -> bytes:
    found = with_driver(before, driver, PATH)
    assert isinstance(found, Candidate), str(found)
    return found.content


FRESH = b'{\n    "exec-opts": [' + RIGHT.encode() + b"]\n}\n"
BECOMES = {
    "absent": (None, FRESH),
    "empty": (b"", FRESH),
    "white space": (b" \r\n\t", FRESH),
    "mark alone": (b"\xef\xbb\xbf\n", FRESH),
    "no members": ("{}", '{"exec-opts": [R]}'),
    "no members, two lines": ("{\r\n}\r\n", '{\r\n    "exec-opts": [R]\r\n}\r\n'),
    "compact": ('{"a":1}', '{"a":1,"exec-opts":[R]}'),
    "one line": ('{ "a": 1, "b": 2 }', '{ "a": 1, "b": 2, "exec-opts": [R] }'),
    "no last newline": ('{\n  "a": 1\n}', '{\n  "a": 1,\n  "exec-opts": [R]\n}'),
    "tabs": ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"exec-opts": [R]\n}\n'),
    "CRLF": ('{\r\n  "a" : 1\r\n}', '{\r\n  "a" : 1,\r\n  "exec-opts" : [R]\r\n}'),
    "comma first": ('{ "a": 1\n, "b": 2\n}', '{ "a": 1\n, "b": 2\n, "exec-opts": [R]\n}'),
    "blank lines": (
        '{\n  "a": 1,\n\n\n  "b": 2\n}',
        '{\n  "a": 1,\n\n\n  "b": 2,\n  "exec-opts": [R]\n}',
    ),
    "mark": ('\ufeff{"a": 1}', '\ufeff{"a": 1, "exec-opts": [R]}'),
    "null": ('{"exec-opts": null, "a": 1}', '{"exec-opts": [R], "a": 1}'),
    "empty list": ('{"exec-opts": []}', '{"exec-opts": [R]}'),
    "another option": ('{"exec-opts": ["x=1"]}', '{"exec-opts": ["x=1", R]}'),
    "one a line": (
        '{"exec-opts": [\n    "x=1"\n  ]}',
        '{"exec-opts": [\n    "x=1",\n    R\n  ]}',
    ),
    "another driver": (
        '{"exec-opts": ["native.cgroupdriver=systemd"]}',
        '{"exec-opts": [R]}',
    ),
    "any spelling": (
        '{"exec-opts": ["a=1", " Native.CgroupDriver = systemd", "b=2"]}',
        '{"exec-opts": ["a=1", R, "b=2"]}',
    ),
    "no value": ('{"exec-opts": ["native.cgroupdriver"]}', '{"exec-opts": [R]}'),
    "several": (
        '{"exec-opts": ["native.cgroupdriver=systemd", "a=1",\n "native.cgroupdriver=cgroupfs"]}',
        '{"exec-opts": [R, "a=1"]}',
    ),
    "several, all right": ('{"exec-opts": [R, R]}', '{"exec-opts": [R]}'),
}


@pytest.mark.parametrize("case", BECOMES)
def test_becomes(case: str) -> None:
    before, after = BECOMES[case]
    given_bytes = before.replace("R", RIGHT).encode() if isinstance(before, str) else before
    wanted = after.replace("R", RIGHT).encode() if isinstance(after, str) else after
    assert merged(given_bytes) == wanted


@pytest.mark.parametrize(
    "option", ["native.cgroupdriver=cgroupfs", "NATIVE.cgroupdriver =  cgroupfs "]
)
def test_right_already_is_the_same_object(option: str) -> None:
    before = json.dumps({"exec-opts": ["a=1", option]}).encode()
    found = with_driver(before, "cgroupfs", PATH)
    assert isinstance(found, Candidate)
    assert found.content is before
    assert not found.changed


REFUSED = {
    b'{"a": 1,}': ("line 1, column 8", "a comma before }"),
    b'{\n  "a": [1, ]\n}': ("line 2, column 10", "a comma before ]"),
    b"{'a': 1}": ("line 1, column 2", "a single quote"),
    b"// why\n{}": ("line 1, column 1", "a comment"),
    b'{"a": 1, # why\n"b": 2}': ("line 1, column 10", "a comment"),
    b'{"a": 1} {"b": 2}': ("line 1, column 10", "'{' after the end"),
    b'{"a": {"b": 1,\n "b": 2}}': ("line 2, column 2", 'the key "b" a second time'),
    b'{"\\u0061": 1, "a": 2}': ("line 1, column 15", 'the key "a" a second time'),
    b"[]": ("line 1, column 1", "a list"),
    b"null": ("line 1, column 1", "null"),
    b"true": ("line 1, column 1", "true"),
    b'"text"': ("line 1, column 1", "a string"),
    b"7": ("line 1, column 1", "a number"),
    b'{"a": NaN}': ("line 1, column 7", "the word NaN"),
    b'{"a": -Infinity}': ("line 1, column 7", "the word -Infinity"),
    b'{"a": 1e999}': ("line 1, column 7", "out of a double's range"),
    b'{"a": 01}': ("line 1, column 8", "'1'"),
    b'{"a": tru}': ("line 1, column 7", "'t'"),
    b'{"a": "\xff"}': ("line 1, column 8", "the byte 0xff"),
    b'{"\xc3\xbc": "\xff"}': ("line 1, column 8", "the byte 0xff"),
    b'{"a": "\\ud800"}': ("line 1, column 7", "half a surrogate pair"),
    b'{"a": "\t"}': ("line 1, column 8", "a control character"),
    b'{"a": "\\q"}': ("line 1, column 8", "a backslash"),
    b'{"a": "b': ("line 1, column 7", "without its closing quote"),
    b'{"a": 1}\0': ("line 1, column 9", "a NUL byte"),
    b"\xff\xfe{\0}\0": ("line 1, column 4", "a NUL byte"),
    b'{"a" 1}': ("line 1, column 6", "'1'"),
    b'{"a": 1': ("line 1, column 8", "the end of the file"),
    b"{": ("line 1, column 2", "the end of the file"),
    b"[" * 100_000: ("line 1, column 202", "nesting deeper than 200"),
    b'{"a": 1}\xc2\xa0': ("line 1, column 9", "the character 0x00a0"),
    b'{"exec-opts": "native.cgroupdriver=systemd"}': ("line 1, column 15", "is no list"),
    b'{"exec-opts": {"native.cgroupdriver": "systemd"}}': ("line 1, column 15", "is no list"),
    b'{"exec-opts": [["x"]]}': ("line 1, column 16", "no string"),
    b'{"Exec-Opts": []}': ("line 1, column 2", "the key Exec-Opts"),
}


@pytest.mark.parametrize("before", REFUSED, ids=lambda before: repr(before[:30]))
def test_refused(before: bytes) -> None:
    where, saw = REFUSED[before]
    found = with_driver(before, "cgroupfs", PATH)
    assert isinstance(found, Refused)
    assert found.subject == f"{PATH}, {where}"
    assert saw in found.saw
    assert found.want


def test_a_driver_that_docker_has_not_is_refused() -> None:
    found = with_driver(b"{}", "cgroup", PATH)
    assert str(found) == f"{PATH}: saw the driver cgroup asked for, want cgroupfs or systemd"


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LEAF = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.recursive(
    LEAF | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OPTION = st.sampled_from(
    ["native.cgroupdriver=systemd", "Native.CgroupDriver = cgroupfs ", "native.cgroupdriver", "a=1"]
)


@st.composite
def files(draw: st.DrawFn) -> tuple[dict[str, Any], bytes]:
    """A configuration and one of the many texts that say it."""
    members = draw(st.dictionaries(TEXT.filter(lambda key: key.lower() != KEY), VALUE, max_size=5))
    options = draw(st.none() | st.just("no key") | st.lists(OPTION | TEXT, max_size=4))
    names = list(members)
    if options != "no key":
        members[KEY] = options
        names.insert(draw(st.integers(0, len(names))), KEY)
    ordered = {name: members[name] for name in names}
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t", " \t"]))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
    text = json.dumps(
        ordered, indent=indent, separators=separators, ensure_ascii=draw(st.booleans())
    )
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    tail = draw(st.sampled_from(["", "\n", "\r\n", "  \n\n"]))
    return ordered, mark + (text + tail).encode()


def wanted(config: dict[str, Any]) -> dict[str, Any]:
    """What the candidate has to say: the same, but for one driver entry."""
    options = config.get(KEY) or []
    kept = []
    for option in options:
        if entry_driver(option) is None:
            kept.append(option)
        elif "R" not in kept:
            kept.append("R")
    if "R" not in kept:
        kept.append("R")
    return {**config, KEY: kept}


def parsed(content: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(content.decode("utf-8-sig"))
    return found


@PATIENT
@given(files())
def test_it_says_the_same_but_for_the_entry(file: tuple[dict[str, Any], bytes]) -> None:
    config, before = file
    assume("R" not in (config.get(KEY) or []))
    after = parsed(merged(before))
    after[KEY] = ["R" if entry_driver(option) == "cgroupfs" else option for option in after[KEY]]
    assert after == wanted(config)
    assert [key for key in after if key != KEY] == [key for key in config if key != KEY]


@PATIENT
@given(files())
def test_outside_the_edits_every_byte_stays(file: tuple[dict[str, Any], bytes]) -> None:
    _, before = file
    found = with_driver(before, "cgroupfs", PATH)
    assert isinstance(found, Candidate)
    body = before.removeprefix(b"\xef\xbb\xbf").decode()
    after = found.content.removeprefix(b"\xef\xbb\xbf").decode()
    old, new = 0, 0
    for start, end, text in found.edits:
        assert after[new : new + start - old] == body[old:start]
        new += start - old
        assert after[new : new + len(text)] == text
        old, new = end, new + len(text)
    assert after[new:] == body[old:]
    assert len(before) - len(body.encode()) == len(found.content) - len(after.encode())


@PATIENT
@given(files())
def test_twice_is_once(file: tuple[dict[str, Any], bytes]) -> None:
    once = merged(file[1])
    again = with_driver(once, "cgroupfs", PATH)
    assert isinstance(again, Candidate)
    assert again.content is once
    assert not again.changed


@PATIENT
@given(files())
def test_there_and_back_keeps_the_rest(file: tuple[dict[str, Any], bytes]) -> None:
    there = merged(file[1], "systemd")
    assert merged(merged(there), "systemd") == there


@PATIENT
@given(st.binary() | st.text('{}[]",:\\ \n\tnull01eE.-+/*#\'"').map(str.encode))
def test_no_bytes_raise(content: bytes) -> None:
    found = with_driver(content, "cgroupfs", PATH)
    assert isinstance(found, (Candidate, Refused))
    seen = document(content, PATH)
    assert isinstance(seen, (Document, Refused))


@PATIENT
@given(files(), st.data())
def test_no_cut_or_changed_file_raises(
    file: tuple[dict[str, Any], bytes], data: st.DataObject
) -> None:
    _, content = file
    place = data.draw(st.integers(0, len(content)))
    broken = content[:place] + data.draw(st.binary(max_size=2)) + content[place + 1 :]
    assert isinstance(with_driver(broken, "cgroupfs", PATH), (Candidate, Refused))
