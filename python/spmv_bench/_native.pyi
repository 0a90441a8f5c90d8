"""The compiled part of the package."""

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy
from numpy.typing import NDArray

class OwnMethod:
    def __new__(
        cls,
        name: str,
        summary: str,
        parallel: bool,
        multiply: Callable[..., None],
        prepare: Callable[[Any], Any] | None,
    ) -> OwnMethod: ...

def placement() -> list[tuple[str, str]]: ...
def read(
    source: str | PathLike[str],
) -> tuple[tuple[int, int], NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.int32]]: ...
def results(file: str | PathLike[str]) -> str: ...
def measure(
    a: Any,
    shape: tuple[int, int],
    data: NDArray[numpy.float64],
    indices: NDArray[numpy.int32],
    indptr: NDArray[numpy.int32],
    options: list[str],
    methods: str | None,
    own: list[OwnMethod],
) -> str: ...
