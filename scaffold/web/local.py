"""The page for a new project, on this machine: it sees the data, and writes folders."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scaffold.answers.catalog import Catalog
from scaffold.answers.data import Finding, look_at_data
from scaffold.answers.resolve import Answers
from scaffold.errors import ScaffoldError
from scaffold.project.write import write_new
from scaffold.render.format import Remember
from scaffold.web.pack import next_commands
from scaffold.web.page import Body, Page


class NewProject(Page):
    """Writes only below the folder in which the command was started."""

    def __init__(self, catalog: Catalog, remember: Remember, root: Path) -> None:
        super().__init__(catalog, remember, self._look)
        self.root = root.resolve()

    def calls(self) -> Any:
        return {**super().calls(), "write": self.write}

    def start(self, body: Body) -> dict[str, Any]:
        return {**super().start(body), "root": str(self.root)}

    def write(self, body: Body) -> dict[str, Any]:
        """Write the project. Raises ScaffoldError if its folder is not empty, or elsewhere."""
        wishes, files, name = self.files(body)
        folder = self._below(str(body.get("folder") or name))
        write_new(folder, files)
        return {
            "folder": str(folder),
            "files": len(files),
            "next": next_commands(self.catalog, wishes.answers, str(folder)),
        }

    def _below(self, text: str) -> Path:
        try:
            folder = (self.root / Path(text).expanduser()).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise ScaffoldError(f"{text!r} is not a valid path: {error}.") from None
        if folder == self.root or not folder.is_relative_to(self.root):
            raise ScaffoldError(
                f"{text}: this page writes only below {self.root}, where `scaffold web` was "
                "started. Start it elsewhere, or copy the command."
            )
        return folder

    def _look(self, answers: Answers) -> Mapping[str, Finding]:
        return look_at_data(self.catalog, answers, [self.root])
