"""Several slow things on this machine, side by side."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def side_by_side(calls: Sequence[Callable[[], T]]) -> list[T]:
    """The results of the calls in their order, once all have ended; the first exception of any."""
    with ThreadPoolExecutor(max_workers=max(len(calls), 1)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]
