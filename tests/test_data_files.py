"""What people's files hold, in every task that reads such files: right, or refused with the place.

GRID is the table of kinds and tasks. A section for each kind of file follows, with the details.
"""

import importlib
import re
import runpy
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from conftest import TEMPLATES, render, write_files
from training import TORCHVISION

pytestmark = pytest.mark.train


class Project:
    """The modules of a rendered project, imported in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __getattr__(self, name: str) -> ModuleType:
        return importlib.import_module(name)

    def config(self, **changes: object) -> Any:
        for function in vars(self.data).values():
            getattr(function, "cache_clear", lambda: None)()  # files may have changed
        return self.train.Config(**changes)

    def read(self, **changes: object) -> list[Any]:
        """Training, validation and test data."""
        return list(self.data.build_datasets(self.config(**changes)))

    def refusal(self, **changes: object) -> str:
        """What is said of data that can't be used."""
        with pytest.raises(SystemExit) as stopped:
            self.read(**changes)
        return str(stopped.value)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Renders a project of a task into the folder, which becomes the current one."""
    monkeypatch.chdir(tmp_path)
    if "torchvision" not in sys.modules:
        runpy.run_path(str(TORCHVISION / "sitecustomize.py"))
    before = {*sys.modules}

    def render_project(task: str, **options: object) -> Project:
        answers = {f"{task}.{name}": value for name, value in options.items() if "." not in name}
        more = {name: value for name, value in options.items() if "." in name}
        files = render({"project.task": task, **answers, **more})
        write_files(tmp_path, files)
        forget(before)
        monkeypatch.syspath_prepend(tmp_path)
        return Project(tmp_path)

    yield render_project
    forget(before)


def forget(before: set[str]) -> None:
    """Modules of an earlier project: the next one has others of the same names."""
    for name in {*sys.modules} - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if Path(file).parent == Path.cwd():
            del sys.modules[name]


def write(name: str, *lines: str) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return name


# --- tables ---------------------------------------------------------------------------------------

TABLES = {"dataset": "csv"}
DEPARTMENTS = ["01", "02", "03", "2A", "2B"]


def table_of(head: str, *rows: str, name: str = "table.csv") -> str:
    return write(name, head, *rows)


def numbered(count: int = 60) -> list[str]:
    """Rows of x and its target, which follows from it."""
    return [f"{row % 7},{'high' if row % 7 > 3 else 'low'}" for row in range(count)]


def test_a_code_stays_a_code_in_a_file_that_happens_to_have_only_numbers(project):
    made = project("tabular_classification", **TABLES)
    rows = [
        f"{DEPARTMENTS[row % 5]},{row},{'high' if row % 5 in (0, 3) else 'low'}"
        for row in range(60)
    ]
    table_of("department,x,target", *rows)
    table_of("department,x,target", *[row for row in rows if row[0] == "0"], name="some.csv")
    columns = made.data.fit_columns(made.config())
    assert columns.categories == {"department": DEPARTMENTS} and [*columns.medians] == ["x"]
    for config in (made.config(val_path="some.csv"), made.config(test_path="some.csv")):
        assert made.data.fit_columns(config).categories == {"department": DEPARTMENTS}
    some = made.data.read_file("some.csv")
    first = columns.transform(some)[:, 1:]
    assert first.sum(dim=1).tolist() == [1.0] * len(some)
    assert columns.find_unknown(some) == []
    made.data.read_file(table_of("department,x", "1,0", "01,0", name="new.csv"))
    [line] = columns.find_unknown(made.data.read_file("new.csv"))
    assert line.startswith("new.csv, row 1: department is '1', which no training row has, as in 1")


def test_an_empty_cell_does_not_change_the_others(project):
    made = project("tabular_classification", **TABLES)
    rows = [
        f"{'123x'[row % 4]},{row},{'high' if row % 4 in (0, 3) else 'low'}" for row in range(60)
    ]
    table_of("grade,x,target", *rows)
    columns = made.data.fit_columns(made.config())
    table_of("grade,x", "1,5", "2,5", name="a.csv")
    table_of("grade,x", "1,5", "2,5", ",5", name="b.csv")
    one, other = (columns.transform(made.data.read_file(name)) for name in ("a.csv", "b.csv"))
    assert one.tolist() == other[:2].tolist() and one[:, 1:].sum().item() == 2
    assert other[2].tolist() == [5, 0, 0, 0, 0]


def test_parquet_files_have_the_same_categories(project):
    pd = pytest.importorskip("pandas")
    made = project("tabular_classification", dataset="parquet", path="table.parquet")
    codes = pd.DataFrame({"code": [*"123x"] * 15, "x": range(60), "target": ["a", "b"] * 30})
    codes.to_parquet("table.parquet")
    columns = made.data.fit_columns(made.config())
    assert columns.categories == {"code": ["1", "2", "3", "x"]}
    pd.DataFrame({"code": [1, 2, None], "x": [0, 0, 0]}).to_parquet("floats.parquet")
    pd.DataFrame({"code": [1, 2], "x": [0, 0]}).to_parquet("whole.parquet")
    pd.DataFrame({"code": ["1", "2"], "x": ["0", "0"]}).to_parquet("texts.parquet")
    for name, rows in (("floats", 3), ("whole", 2), ("texts", 2)):
        table = made.data.read_file(f"{name}.parquet")
        assert columns.transform(table)[:2].tolist() == [[0, 1, 0, 0, 0], [0, 0, 1, 0, 0]]
        assert len(table) == rows and not columns.find_unknown(table)


def test_only_an_empty_cell_is_missing(project):
    made = project("tabular_classification", **TABLES)
    names = ["None", "Insomnia", "NA", "nan", "null"]
    rows = [f"{['NA', 'EU', 'None'][row % 3]},{row},{names[row % 5]}" for row in range(60)]
    table_of("continent,x,target", *rows)
    columns = made.data.fit_columns(made.config())
    assert columns.classes == sorted(names)
    assert columns.categories == {"continent": ["EU", "NA", "None"]}
    table_of("x,target", *numbered(), ",low")
    assert made.data.fit_columns(made.config()).empty in (["x"], [])  # by the split
    table_of("x,target", *numbered(), "3,")
    assert made.refusal().startswith("table.csv, row 61 has no target, as 1 row(s) in all")


@pytest.mark.parametrize("word", ["NA", "nan", "None", "?", "-", "NULL"])
def test_a_word_for_nothing_among_numbers_is_asked_about(project, word):
    """The advice is to leave the cell empty: then it is missing, and the column has numbers."""
    made = project("tabular_classification", **TABLES)
    rows = numbered()
    table_of("x,target", *[row.replace("5,", f"{word},") for row in rows])
    said = made.refusal()
    assert f"x is '{word}' among numbers" in said and "leave the cell empty" in said
    table_of("x,target", *[row.replace("5,", ",") for row in rows])
    columns = made.data.fit_columns(made.config())
    assert [*columns.medians] == ["x"] and columns.empty == ["x"] and not columns.categories
    new = made.data.read_file(table_of("x", "1", word, name="new.csv"))
    with pytest.raises(SystemExit, match=r"^new.csv, row 2: x is .* and not a finite number"):
        columns.transform(new)


def test_numbers_with_a_decimal_comma_are_refused(project):
    made = project("tabular_regression", **TABLES)
    table_of("rooms,target", *[f'"{row % 4},5",{row}' for row in range(60)])
    said = made.refusal()
    assert "rooms is '" in said and "write numbers as in 2.5" in said
    table_of("rooms,target", *[f"{row % 4}.5,{row}" for row in range(60)])
    assert [*made.data.fit_columns(made.config()).medians] == ["rooms"]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("1,low,", "row 61 has 3 cells, and the first line names 2 columns"),
        ("1", "row 61 has 1 cells"),
        ("1,low,3", "row 61 has 3 cells"),
    ],
)
def test_rows_of_other_lengths_are_named(project, bad, said):
    made = project("tabular_classification", **TABLES)
    table_of("x,target", *numbered(), bad)
    assert f"table.csv, {said}" in made.refusal()
    table_of("x,target", *numbered(), "1,low")
    assert sum(map(len, made.read())) == 61


def test_a_comma_at_the_end_of_each_row_never_shifts_columns(project):
    """Neither with the message nor after its advice is another column the target."""
    made = project("tabular_classification", **TABLES)
    rows = [f"{label},{x},0.5," for x, label in (row.split(",") for row in numbered())]
    table_of("target,x,other", *rows)
    for config in ({}, {"drop_columns": "other"}):
        assert "row 1 has 4 cells" in made.refusal(**config)
    table_of("target,x,other,", *rows)
    assert "Set --drop-columns Unnamed: 3" in made.refusal()
    columns = made.data.fit_columns(made.config(drop_columns="Unnamed: 3"))
    assert [*columns.medians] == ["x", "other"] and columns.classes == ["high", "low"]
    table_of("target,x,other", *[row[:-1] for row in rows])
    assert [*made.data.fit_columns(made.config()).medians] == ["x", "other"]


def test_headers_that_name_too_little_are_refused(project):
    made = project("tabular_classification", **TABLES)
    table_of("x,target,target", *[f"{row},a" for row in numbered()])
    assert "two columns 'target': rename one" in made.refusal()
    table_of("x;target", *[row.replace(",", ";") for row in numbered()])
    assert "';' between its columns: write commas" in made.refusal()


@pytest.mark.parametrize("task", ["tabular_classification", "tabular_regression"])
@pytest.mark.parametrize("cell", ["inf", "-inf", "Infinity", "1e400"])
def test_infinite_cells_are_refused_with_their_row(project, task, cell):
    made = project(task, **TABLES)
    classes = task == "tabular_classification"
    rows = [f"{row},{row % 2}" for row in range(60)]
    table_of("x,target", *[row.replace("30,", f"{cell},") for row in rows])
    assert made.refusal().startswith(f"table.csv, row 31: x is '{cell}', and not a finite number")
    table_of("x,target", *rows)
    columns = made.data.fit_columns(made.config())
    new = made.data.read_file(table_of("x", "1", cell, name="new.csv"))
    with pytest.raises(SystemExit, match=r"^new.csv, row 2: x is"):
        columns.transform(new)
    if not classes:
        table_of("x,target", *rows[:30], f"3,{cell}", *rows[30:])
        assert made.refusal().startswith(f"table.csv, row 31: target is '{cell}'")


def test_unix_times_within_a_minute_stay_apart(project):
    torch = pytest.importorskip("torch")
    made = project("tabular_regression", **TABLES)
    for start, step in ((1_700_000_000, 1), (1_700_000_000_000, 60), (1.7e9, 0.25)):
        times = [start + step * row for row in range(60)]
        table_of("time,target", *[f"{time},{row}" for row, time in enumerate(times)])
        rows = torch.cat([part[:][0] for part in made.read()])[:, 0]
        assert len(rows.unique()) == 60
        assert (rows.sort().values.diff() == step).all()
        saved = made.columns.Columns
        columns = made.data.fit_columns(made.config())
        columns.save("run")
        assert saved.load("run") == columns and [*columns.starts] == ["time"]


def test_classes_that_only_another_file_has_are_refused(project):
    made = project("tabular_classification", test_path="test.csv", **TABLES)
    rows = [
        f"{row}, {'?' if row % 2 else 'Private'}, {'>50K' if row > 30 else '<=50K'}"
        for row in range(60)
    ]
    table_of("age,workclass,target", *rows)
    table_of("age,workclass,target", *[f"{row}." for row in rows], name="test.csv")
    said = made.refusal()
    assert said.startswith("test.csv, row 1 has the target '<=50K.'. The training data has <=50K, ")
    table_of("age,workclass,target", *rows, name="test.csv")
    columns = made.data.fit_columns(made.config())
    assert columns.classes == ["<=50K", ">50K"], "without leading spaces"
    assert columns.categories == {"workclass": ["?", "Private"]}


@pytest.mark.parametrize(("train", "other"), [("1", "1.0"), ("a", "A"), ("01", "1")])
def test_labels_that_are_written_in_another_way_are_refused(project, train, other):
    made = project("tabular_classification", val_path="val.csv", **TABLES)
    table_of("x,target", *[f"{row},{train if row % 2 else 'b'}" for row in range(60)])
    table_of("x,target", f"1,{other}", name="val.csv")
    assert f"val.csv, row 1 has the target '{other}'" in made.refusal()


def test_samples_of_scikit_learn_take_finite_numbers_only(project):
    made = project("tabular_regression")
    [names] = [made.predict.load_diabetes().feature_names]
    for cell in ("inf", "nan", ""):
        write("new.csv", ",".join(names), ",".join(["1"] * 9 + [cell]))
        with pytest.raises(SystemExit, match=r"new.csv, row 1"):
            made.predict.read_inputs(SimpleNamespace(), ["new.csv"])


# --- images ---------------------------------------------------------------------------------------


def draw(name: str, size: tuple[int, int] = (32, 32), seed: int = 0) -> str:
    """A picture of noise, other than those of other seeds."""
    np = pytest.importorskip("numpy")
    image = pytest.importorskip("PIL.Image")
    width, height = size
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    image.fromarray(pixels).save(path)
    return name


@pytest.fixture
def ghostscript(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The EPS files for which Pillow would start Ghostscript."""
    plugin = pytest.importorskip("PIL.EpsImagePlugin")
    started: list[str] = []
    monkeypatch.setattr(plugin, "Ghostscript", lambda *given, **more: started.append("gs"))
    return started


EPS = "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 32 32\n%%EndComments\nshowpage\n%%EOF"


def test_an_image_that_is_eps_inside_starts_no_other_program(project, ghostscript):
    pillow = pytest.importorskip("PIL.Image")
    write("a.png", EPS)
    with pytest.raises((OSError, AssertionError, AttributeError)), pillow.open("a.png") as picture:
        picture.load()
    assert ghostscript == ["gs"], "Pillow alone would start it"
    made = project("image_classification", dataset="image_folder")
    with pytest.raises(OSError, match="can't be read as an image"):
        made.data.read_image("a.png", lambda picture: picture.load())
    with pytest.raises(SystemExit, match="can't be read as an image"):
        made.data.check_images([Path("a.png")])
    assert ghostscript == ["gs"]


def test_all_templates_say_which_images_they_open():
    """Pictures that the project itself has drawn are opened as they are."""
    opened = {}
    for path in (TEMPLATES / "lib", TEMPLATES / "shared", TEMPLATES / "tasks"):
        for file in path.rglob("*.py"):
            calls = re.findall(r"Image\.open\(([^\n]*)", file.read_text())
            if calls and "tests" not in file.parts and file.name != "app.py":
                opened[file] = calls
    assert len(opened) > 6
    for file, calls in opened.items():
        assert all("formats=FORMATS" in call for call in calls), file


def test_a_yaml_file_that_grows_is_refused_before_it_does(project):
    made = project("object_detection", dataset="yolo")
    write("data/objects/images/a.txt")
    lists = [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in pairwise("abcdefghij")]
    write("data/objects/data.yaml", "a: &a [x, x]", *lists, "names: *j")
    assert "data.yaml has an alias, as in *name: write" in made.refusal(path="data/objects")
    write("data/objects/data.yaml", "[" * 5000)
    assert "data.yaml is not YAML" in made.refusal(path="data/objects")
    write("data/objects/data.yaml", "names: [" + "x," * 600_000 + "]")
    assert "1,200,0" in made.refusal(path="data/objects")
