"""The documentation, as pages."""

from collections.abc import Iterator

from scaffold.answers.catalog import Catalog


class Docs:
    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def read(self, name: str) -> bytes | None:
        return None

    def pages(self) -> Iterator[tuple[str, bytes]]:
        yield from ()
