"""What people's files hold, in every task that reads such files: the grid of kinds and tasks."""

from pathlib import Path

import pytest

pytest.importorskip("PIL.Image")

from kinds import CARRIERS, GRIDS, NONE, Carrier, read_cells, read_grid, try_all, write_grid
from support.combinations import in_turns


@pytest.mark.train
@pytest.mark.parametrize(
    "carrier", in_turns(CARRIERS, 4), ids=lambda carrier: carrier.name.replace(", ", "-")
)
def test_files_are_read_right_or_refused_with_the_place(carrier: Carrier, tmp_path: Path) -> None:
    assert try_all(carrier, tmp_path) == read_cells()[carrier.name]


def test_the_grid_has_each_kind_and_each_task() -> None:
    """And its cells are what the kinds say can't occur."""
    cells = read_cells()
    assert read_grid() == write_grid(cells), "write it with python tests/kinds.py"
    said = {word for found in cells.values() for word in found.values()}
    assert said == {"right", "refused", NONE}
    for title, table, carriers in GRIDS:
        for name, make in table.items():
            for carrier in carriers:
                assert (make(carrier) is None) == (cells[carrier.name][title, name] == NONE)
