"""The documentation, as pages."""

from scaffold.answers.catalog import Catalog


class Docs:
    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def read(self, name: str) -> bytes | None:
        return None
