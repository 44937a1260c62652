"""What these folders offer each other has one name each: a name found leads to one place."""

from __future__ import annotations

import ast
from collections import defaultdict

from pyinfra_nvml.operations import own_wheel

FOLDERS = [folder for folder in own_wheel.FOLDERS if folder not in ("pyinfra_nvml", "deploys")]
# What each check and each remedy is asked by, and what starts a program.
ENTRY_POINTS = {"main", "check", "prescribe"}


def test_no_two_public_functions_or_classes_have_one_name() -> None:
    places = defaultdict(list)
    for folder in FOLDERS:
        for path in sorted((own_wheel.ROOT / folder).rglob("*.py")):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    places[node.name].append(f"{folder}/{path.name}")
    twice = {name: found for name, found in places.items() if len(found) > 1}
    public = {name for name in twice if not name.startswith("_")} - ENTRY_POINTS
    assert {name: twice[name] for name in public} == {}
