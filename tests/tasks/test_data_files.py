"""What people's files hold, in the tasks that alone can have it: right, or refused with the place.

A section for each kind of file. `kinds.py` has the grid of what many tasks can have.
"""

import importlib
import json
import re
import runpy
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import time, timedelta
from decimal import Decimal
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("PIL.Image")

from support.kinds import picture, sound
from support.paths import TEMPLATES
from support.rendering import write_project
from support.training import TORCHVISION

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


@cache
def declare_operators() -> None:
    """Lets torchvision be imported beside a torch for the CPU."""
    runpy.run_path(str(TORCHVISION / "sitecustomize.py"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Renders a project of a task into the folder, which becomes the current one."""
    monkeypatch.chdir(tmp_path)
    declare_operators()
    before = {*sys.modules}

    def render_project(task: str, **options: object) -> Project:
        write_project(tmp_path, task, **options)
        forget(before)
        monkeypatch.syspath_prepend(tmp_path)
        return Project(tmp_path)

    yield render_project
    forget(before)


@pytest.fixture
def pd() -> Any:
    return pytest.importorskip("pandas")


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


def numbered() -> list[str]:
    """Rows of x and its target, which follows from it."""
    return [f"{row % 7},{'high' if row % 7 > 3 else 'low'}" for row in range(60)]


def test_a_code_stays_a_code_in_a_file_that_happens_to_have_only_numbers(project):
    made = project("tabular_classification", **TABLES)
    classes = ["high", "low", "low", "high", "low"]
    rows = [f"{DEPARTMENTS[row % 5]},{row},{classes[row % 5]}" for row in range(60)]
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


def test_parquet_files_have_the_same_categories(project, pd):
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


def test_cells_of_parquet_are_those_of_a_csv_file(project, pd):
    """Decimals are numbers, texts have no spaces around them, and an empty one is missing."""
    made = project("tabular_classification", dataset="parquet", path="table.parquet")
    rows = {"x": range(60), "name": ["a", "b"] * 30, "target": ["no", " no", "yes"] * 20}
    table = pd.DataFrame(rows).assign(price=[Decimal(row) / 4 for row in range(60)])
    table.to_parquet("table.parquet")
    columns = made.data.fit_columns(made.config())
    assert [*columns.medians] == ["x", "price"] and columns.classes == ["no", "yes"]
    table.assign(name=table["name"].replace("b", "").astype("category")).to_parquet("table.parquet")
    assert made.data.fit_columns(made.config()).categories == {"name": ["a"]}
    table.assign(target=table["target"].replace("yes", "")).to_parquet("table.parquet")
    assert made.refusal().startswith("table.parquet, row 3 has no target, as 20 row(s) in all")


def test_what_pandas_says_of_a_column_counts(project, pd):
    """Categories that are numbers stay categories, and an index may also be a column."""
    made = project("tabular_regression", dataset="parquet", path="table.parquet")
    table = pd.DataFrame({"id": range(60), "zip": [10115, 80331] * 30, "target": [1, 2] * 30})
    table = table.assign(zip=table["zip"].astype("category"))
    table.set_index("id", drop=False).to_parquet("table.parquet")
    columns = made.data.fit_columns(made.config())
    assert columns.categories == {"zip": ["10115", "80331"]} and [*columns.medians] == ["id"]
    assert made.config(drop_columns="id,zip") and made.refusal(drop_columns="id,zip") == (
        "table.parquet has no columns beside the target."
    )
    days = pd.date_range("2026-01-01", periods=60)
    table.assign(target=days).to_parquet("table.parquet")
    assert made.refusal().startswith("table.parquet: target has no numbers: set --target to a")


@pytest.mark.parametrize("cell", [[1, 2], {"a": 1}, b"a", time(10), timedelta(1)])
def test_columns_of_parquet_that_are_no_numbers_and_no_texts_are_refused(project, pd, cell):
    """The advice is to leave them out."""
    made = project("tabular_regression", dataset="parquet", path="table.parquet")
    table = pd.DataFrame({"x": range(60), "odd": [cell] * 60, "target": [1, 2] * 30})
    table.to_parquet("table.parquet")
    assert re.match(r"table.parquet, row 1: odd is .*, or add odd to --drop-col", made.refusal())
    assert [len(part) for part in made.read(drop_columns="odd")] == [36, 12, 12]


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


@pytest.mark.parametrize(
    "word", ["NA", "nan", "None", "?", "-", "NULL", "#DIV/0!", "n.a.", "Unknown", ":", "\\N"]
)
def test_a_word_for_nothing_among_numbers_is_asked_about(project, word):
    """The advice is to leave the cell empty: then it is missing, and the column has numbers."""
    made = project("tabular_classification", **TABLES)
    rows = numbered()
    table_of("x,target", *[row.replace("5,", f"{word},") for row in rows])
    said = made.refusal()
    assert f"x is {word!r} among numbers" in said and "leave the cell empty" in said
    table_of("x,target", *[row.replace("5,", ",") for row in rows])
    columns = made.data.fit_columns(made.config())
    assert [*columns.medians] == ["x"] and columns.empty == ["x"] and not columns.categories
    new = made.data.read_file(table_of("x", "1", word, name="new.csv"))
    with pytest.raises(SystemExit, match=r"^new.csv, row 2: x is .* and not a finite number"):
        columns.transform(new)


def test_a_time_zone_is_that_of_the_training_rows(project):
    made = project("tabular_regression", **TABLES)
    for zone, other in ("Z", ""), ("", "+01:00"):
        table_of("time,target", *[f"2026-03-0{1 + n % 9}T10:00{zone},{n}" for n in range(60)])
        columns = made.data.fit_columns(made.config())
        new = made.data.read_file(table_of("time", f"2026-03-05T10:00{zone}", name="new.csv"))
        assert columns.transform(new).shape == (1, 1)
        table_of("time", f"2026-03-05T10:00{zone}", f"2026-03-05T10:00{other}", name="new.csv")
        with pytest.raises(SystemExit, match=r"^new.csv, row 2: time is .* a time zone, unlike"):
            columns.transform(made.data.read_file("new.csv"))


def columns_of(made: Any, *cells: object) -> Any:
    """The columns of a table whose first one has these cells in turn."""
    table_of("x,target", *[f"{cells[n % len(cells)]},{n}" for n in range(60)])
    return made.data.fit_columns(made.config())


def test_numbers_of_more_than_64_bits_are_numbers(project):
    made = project("tabular_regression", **TABLES)
    assert [*columns_of(made, *(10**19 * n for n in range(1, 6))).medians] == ["x"]


@pytest.mark.parametrize("cell", ["{} %", "${}", "{} €", "1 00{}", "1'00{}", "\u2212{}", "+{}%"])
def test_numbers_with_signs_of_other_programs_are_refused(project, cell):
    """They are no categories, also if only some of them have such a sign."""
    made = project("tabular_regression", **TABLES)
    for given in (cell, "{}"), (cell, cell):
        table_of("x,target", *[f"{given[n % 2].format(n % 8)},{n}" for n in range(60)])
        said = made.refusal()
        assert re.match(r"table.csv, row \d+: x is .*: write numbers as in 2.5", said), given


@pytest.mark.parametrize(
    "words", ["30-40 40-50", "5+ 5", "10.0.0.1 10.0.0.2", "1-2 3-4", "2nd 3rd"]
)
def test_categories_may_have_digits(project, words):
    found = columns_of(project("tabular_regression", **TABLES), *words.split())
    assert found.categories == {"x": sorted(words.split())}


@pytest.mark.parametrize("day", ["14/03/2026", "3/14/2026", "14.3.2026", "2026/03/14 10:00"])
def test_dates_that_are_written_in_another_way_are_refused(project, day):
    made = project("tabular_regression", **TABLES)
    with pytest.raises(SystemExit, match=f"x is '{day}': write dates as in 2026-03-14"):
        columns_of(made, day, "2026-03-15")
    assert [*columns_of(made, "2026-03-10", "2026-03-11").first_days] == ["x"]


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


def test_samples_of_scikit_learn_take_finite_numbers_only(project):
    made = project("tabular_regression")
    [names] = [made.predict.load_diabetes().feature_names]
    for cell in ("inf", "nan", ""):
        write("new.csv", ",".join(names), ",".join(["1"] * 9 + [cell]))
        with pytest.raises(SystemExit, match=r"new.csv, row 1"):
            made.predict.read_inputs(SimpleNamespace(), ["new.csv"])


# --- images ---------------------------------------------------------------------------------------


def put(name: str, content: bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
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
            if calls and "tests" not in file.parts and file.name not in ("app.py", "tests.py"):
                opened[file] = calls
    assert len(opened) > 6
    for file, calls in opened.items():
        assert all("formats=FORMATS" in call for call in calls), file


@pytest.mark.every_run
def test_a_yaml_file_that_grows_is_refused_before_it_does(project):
    made = project("object_detection", dataset="yolo")
    write("data/objects/images/a.txt")
    lists = [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in pairwise("abcdefghij")]
    write("data/objects/data.yaml", "a: &a [x, x]", *lists, "names: *j")
    assert "data.yaml has an alias, as in *name: write" in made.refusal(path="data/objects")
    for deep in ("[" * 800, "[" * 800 + "]" * 800):  # not closed, and too deep to be read
        write("data/objects/data.yaml", deep)
        assert "data.yaml is not YAML" in made.refusal(path="data/objects")
    write("data/objects/data.yaml", "names: [" + "x," * 600_000 + "]")
    assert "1,200,0" in made.refusal(path="data/objects")


# --- folders that are no classes, and files in two places -----------------------------------------


@pytest.mark.parametrize(
    ("task", "dataset", "suffix", "content"),
    [
        ("image_classification", "image_folder", "png", picture(0)),
        ("audio_classification", "files", "wav", sound(300)),
    ],
    ids=["images", "sounds"],
)
def test_each_class_keeps_its_share_in_what_is_held_out(
    project, task, dataset, suffix, content, capsys
):
    made = project(task, dataset=dataset, path="d")
    for name, count in (("often", 50), ("seldom", 10), ("once", 1)):
        for number in range(count):
            put(f"d/{name}/{number}.{suffix}", content)
    assert [len(part) for part in made.read()] == [49, 6, 6]
    assert "Too few samples to be split, all are training data:" in capsys.readouterr().out
    held_out = made.read(val_share=0.2, test_share=0.3)[1:]
    counts = [Counter(int(label) for *_, label in part) for part in held_out]
    names = made.data.class_names(made.config())
    assert counts == [
        {names.index("often"): 10, names.index("seldom"): 2},
        {names.index("often"): 15, names.index("seldom"): 3},
    ]
    assert made.read(test_share=0.3)[2]


@pytest.mark.parametrize("task", ["tabular_classification", "text_classification"])
def test_each_class_of_a_table_keeps_its_share(project, task):
    made = project(task, dataset="csv")
    rows = [f"{number},{'yes' if number % 10 else 'no'}" for number in range(200)]
    table_of("number,target", *rows, name="t.csv")
    names = {"tabular_classification": {"target": "target"}}
    flags = names.get(task, {"text_columns": "number", "label_column": "target"})
    parts = made.read(path="t.csv", val_share=0.1, test_share=0.3, **flags)
    counts = [Counter(int(sample[-1]) for sample in part) for part in parts]
    assert [sorted(count.values()) for count in counts] == [[12, 108], [2, 18], [6, 54]]


def test_an_image_is_in_one_row_of_all_tables(project):
    made = project("image_classification", dataset="csv", table="t.csv")
    rows = [f"{put(f'p/{n}.png', picture(n))},{'ab'[n % 2]}" for n in range(12)]
    write("t.csv", "image,label", *rows, "p/../p/0.png,b")
    said = made.refusal()
    assert said.startswith("t.csv, row 13 has p/../p/0.png, and so has t.csv, row 1: keep one")
    write("t.csv", "image,label", *rows)
    write("test.csv", "image,label", "p/0.png,a")
    said = made.refusal(test_table="test.csv")
    assert "test.csv, row 1 has p/0.png, and so has t.csv, row 1" in said
    write("test.csv", "image,label", f"{put('p/99.png', picture(99))},a")
    assert [len(part) for part in made.read(test_table="test.csv")] == [11, 1, 1]


# --- sounds ---------------------------------------------------------------------------------------


def patch(name: str, size: int) -> None:
    """Another size of the data in the header of a WAV file."""
    content = bytearray(Path(name).read_bytes())
    at = content.index(b"data") + 4
    content[at : at + 4] = content[4:8] = size.to_bytes(4, "little")
    Path(name).write_bytes(content)


@pytest.mark.parametrize("size", [0xFFFFFFFF, 0x7FFFFFFF])
def test_a_sound_from_a_pipe_has_the_length_that_it_has(project, size):
    """The table of sounds in README.md has the reader `wave`."""
    pytest.importorskip("soundfile")
    made = project("audio_classification", dataset="files", reader="soundfile", path="d")
    for number in range(12):
        put(f"d/{'ab'[number % 2]}/{number // 2}.wav", sound(300))
    whole = made.audio.read_sound(Path("d/a/0.wav"), 16000)
    patch("d/a/0.wav", size)
    assert made.audio.read_sound(Path("d/a/0.wav"), 16000).tolist() == whole.tolist()
    assert made.audio.measure_sound(Path("d/a/0.wav")) == 0.5
    assert sum(len(part) for part in made.read()) == 12


# --- series ---------------------------------------------------------------------------------------

MONTHS = [f"{year}{month:02}" for year in range(2000, 2005) for month in range(1, 13)]
SHORT = {"context": 6, "horizon": 3, "season": 12, "time_column": "month", "dataset": "file"}


def series_of(times: list[str]) -> str:
    return write("series.csv", "month,value", *(f"{t},{row}" for row, t in enumerate(times)))


def forecast(made: Any, path: str) -> tuple[list[list[str]], str]:
    """The lines that predict.py would write for a file: the last value again and again."""
    config = made.config()
    made.data.fit_scales(config).save(config.output_dir)
    histories = made.predict.read_inputs(config, [path])
    rows = [
        {**{key: row[key] for key in ("series", "start", "format")}, "forecast": [0.0] * 3}
        for row in histories
    ]
    return made.predict.list_lines(rows, config)


def test_months_as_numbers_are_months(project):
    made = project("forecasting", series_column="", loss="mae", **SHORT)
    series_of(MONTHS)
    table = made.data.read_series(made.config())
    assert table.shape == (1, 60) and not table.isna().any().any()
    assert made.data.find_step(table.columns) == "MS"
    config = made.config(val_from="200401", test_from="200407")
    assert made.data.find_borders(table.columns, config) == [48, 54]


@pytest.mark.parametrize(
    ("times", "after"),
    [
        ([f"{month[:4]}-{month[4:]}-01" for month in MONTHS], ["2005-01-01", "2005-02-01"]),
        ([f"{month}01" for month in MONTHS], ["20050101", "20050201"]),
        ([str(1900 + year) for year in range(60)], ["1960", "1961"]),
        (
            [f"2026-01-{1 + n // 24:02} {n % 24:02}:00:00" for n in range(60)],
            ["2026-01-03 12:00:00", "2026-01-03 13:00:00"],
        ),
        (  # in UTC, which is said
            [f"2026-01-{1 + n // 24:02} {n % 24:02}:00:00+01:00" for n in range(60)],
            ["2026-01-03 11:00:00Z", "2026-01-03 12:00:00Z"],
        ),
    ],
)
def test_times_come_back_as_they_were_written(project, times, after):
    made = project("forecasting", series_column="", loss="mae", **SHORT)
    series_of(times)
    assert made.data.read_series(made.config()).shape == (1, 60)
    _, *lines = forecast(made, "series.csv")
    assert [line[1] for line in lines][:2] == after


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([f"{2024 + n // 52}{1 + n % 52:02}" for n in range(156)], "202401, a number with weeks"),
        ([f"{1990 + n // 4}{1 + n % 4}" for n in range(120)], "19901, a number with quarters"),
        (
            [f"202601{1 + n // 24:02}{n % 24:02}" for n in range(240)],
            "2026010100, a number with hours",
        ),
    ],
)
def test_numbers_that_are_no_steps_are_refused(project, times, said):
    """202452 is followed by 202501: 48 steps between them would be empty."""
    made = project("forecasting", series_column="", **SHORT)
    series_of(times)
    assert f"series.csv: row 1 has the time {said}: write when it begins" in made.refusal()


@pytest.mark.parametrize("write_time", [str, int, lambda month: int(f"{month}01")])
def test_times_of_parquet_may_be_texts(project, pd, write_time):
    """Or numbers."""
    made = project("forecasting", dataset="file", path="series.parquet")
    times = [write_time(month) for month in MONTHS]
    pd.DataFrame({"time": times, "series": "a", "value": range(60)}).to_parquet("series.parquet")
    found = made.data.read_series(made.config())
    assert found.columns.freqstr == "MS" and found.shape == (1, 60)


def test_columns_come_back_under_their_names_and_an_early_end_is_said(project, capsys):
    made = project("forecasting", series_column="shop", loss="mae", **SHORT)
    rows = [f"{shop},{month},{row}" for shop in ("01", "2") for row, month in enumerate(MONTHS)]
    write("series.csv", "shop,month,value", *rows[:-2])
    names, *lines = forecast(made, "series.csv")
    assert names == ["shop", "month", "forecast"]
    assert [line[:2] for line in lines[::3]] == [["01", "200501"], ["2", "200411"]]
    assert "series '2' is forecast from 2004-10-01" in capsys.readouterr().err


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "more"),
    [
        ("seq2seq", []),
        ("sft", []),
        ("token_classification", []),
        ("question_answering", ["Who sings?"]),
        ("multiple_choice", ["Bo", "Al"]),
    ],
)
def test_the_name_of_a_file_is_no_text(project, task, more):
    """predict.py would write an answer to it, and nobody would see why it is a bad one."""
    made = project(task)
    config, names = made.config(), ["Bo sings.", *(more or ["Al sings."])]
    assert made.predict.read_inputs(config, names)
    table_of("text", "Bo sings.", name="texts.csv")
    with pytest.raises(SystemExit, match=r"texts\.csv"):
        made.predict.read_inputs(config, ["texts.csv", *names[1:]])


def test_a_folder_of_texts_has_no_hidden_ones(project, capsys):
    made = project("masked_language_model", dataset="text")
    for name in ("a.txt", "b/c.TXT", ".git/d.txt", ".e.txt", "f.md", "g.jsonl"):
        write(f"p/{name}", name)
    assert made.data.read_texts("p", made.config()) == ["a.txt\n", "b/c.TXT\n"]
    assert "p: ignored: 2 files that do not end in .txt" in capsys.readouterr().err
    write("rows.json.txt", json.dumps({"text": "a"}))
    assert made.data.read_texts("rows.json.txt", made.config()) == ['{"text": "a"}\n']
    said = "rows.json.txt is read as texts: rows of JSON are read from a .jsonl file"
    assert said in capsys.readouterr().err
