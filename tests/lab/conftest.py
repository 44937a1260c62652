"""The lab for tests: those in this directory carry the marker `lab` and boot their nodes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import requirements
from tests.lab.errors import CannotRun
from tests.lab.remedy import Remedy
from tests.lab.restarted import BEFORE
from tests.lab.session import Lab, open_lab

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this directory."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.lab)


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The session's lab; where it cannot run a skip, where it is required a failure."""
    try:
        opened = open_lab()
    except CannotRun as reason:
        if requirements.required():
            pytest.fail(str(reason), pytrace=False)
        pytest.skip(str(reason))
    with opened:
        yield opened


@pytest.fixture(scope="module", params=["trixie", "bookworm"])
def own(
    request: pytest.FixtureRequest, lab: Lab, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Remedy]:
    """A node of a module's own, to be changed by its tests."""
    node = lab.fresh(request.param)
    yield Remedy(node, tmp_path_factory.mktemp("restart"))
    lab.stop(node)


@pytest.fixture
def remedy(own: Remedy) -> Remedy:
    """That node as before any change, with containers that come back in every way."""
    own.reset(BEFORE)
    own.fill()
    return own
