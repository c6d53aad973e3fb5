"""`scaffold web`: what its page can ask for, and who may ask."""

import base64
import hashlib
import http.client
import io
import itertools
import json
import re
import shlex
import threading
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from scaffold.answers import manifests
from scaffold.answers.manifests import load_catalog
from scaffold.cache import remember
from scaffold.cli import app
from scaffold.errors import ScaffoldError
from scaffold.merge.conflicts import take_side
from scaffold.render.format import make_anew
from scaffold.web.local import NewProject
from scaffold.web.project import ExistingProject
from scaffold.web.server import TOKEN, Server, make_page
from support.files import read_files, replace_in
from support.paths import REPOSITORY
from support.wishes import random_wishes

WEB = REPOSITORY / "scaffold" / "web"
DEVICES = {"hardware.distributed_type": "MULTI_GPU"}
MOST = 1_500_000  # bytes of the built page


def page(root: Path) -> NewProject:
    return NewProject(load_catalog(), remember, root)


def ask(root: Path, wishes: Mapping[str, str] = {}, **more: str) -> dict[str, Any]:
    texts = {key.replace("__", "."): value for key, value in more.items()}
    return page(root).call("ask", {"wishes": {**wishes, **texts}})


def questions(form: dict[str, Any]) -> dict[str, dict[str, Any]]:
    parts = [*form["tables"], *form["features"]]
    return {question["key"]: question for part in parts for question in part["questions"]}


def test_all_open_questions_are_asked_at_once(tmp_path: Path) -> None:
    form = ask(tmp_path)
    asked = questions(form)
    assert {"project.task", "hardware.mixed_precision", "training.epochs"} <= asked.keys()
    assert "hardware.num_processes" not in asked  # one device has one process
    assert len(form["features"]) >= 40
    several = ask(tmp_path, hardware__distributed_type="MULTI_GPU")
    assert "hardware.num_processes" in questions(several)
    assert "features.ema.decay" in questions(ask(tmp_path, features__ema__enabled="true"))


def test_a_choice_that_is_ruled_out_says_why(tmp_path: Path) -> None:
    question = questions(ask(tmp_path))["training.optimizer"]
    ruled_out = {c["value"]: c["why"] for c in question["choices"] if "why" in c}
    assert ruled_out.keys() == {"schedule_free", "muon"}
    assert "schedule" in ruled_out["schedule_free"]
    assert len(question["choices"]) > 3
    features = {feature["name"]: feature for feature in ask(tmp_path)["features"]}
    assert "layer_rates" in features["unfreezing"]["why"]
    assert features["unfreezing"]["resets"] == [] and not features["ema"]["why"]


def test_a_choice_that_another_answer_rules_out_resets_that_one(tmp_path: Path) -> None:
    sharded = DEVICES | {"hardware.sharding": "fsdp"}
    asked = questions(ask(tmp_path, sharded))
    [one_device] = [c for c in asked["hardware.distributed_type"]["choices"] if c["value"] == "NO"]
    asked = questions(ask(tmp_path, {"features.ema.enabled": "true"} | DEVICES))
    assert "hardware.sharding" in asked  # though EMA goes with none of its other choices
    assert one_device["resets"] == ["hardware.sharding"] and "several" in one_device["why"]


def test_a_wrong_value_is_told_and_changes_nothing(tmp_path: Path) -> None:
    form = ask(tmp_path, training__epochs="many", training__seed="3")
    assert "whole number" in form["wrong"]["training.epochs"]
    assert form["wishes"] == {"training.seed": "3"}
    assert questions(form)["training.epochs"]["value"] == "20"
    assert "no such setting" in ask(tmp_path, training__epoch="3")["wrong"]["training.epoch"]


def test_the_last_answer_wins(tmp_path: Path) -> None:
    sharded = DEVICES | {"hardware.sharding": "fsdp"}
    form = ask(tmp_path, {"features.ema.enabled": "true", **sharded})
    assert form["wishes"] == sharded
    assert "ema" in form["dropped"]["features.ema.enabled"]
    form = ask(tmp_path, {**sharded, "features.ema.enabled": "true"})
    assert "hardware.sharding" in form["dropped"]
    assert form["wishes"]["features.ema.enabled"] == "true"


def test_the_default_of_an_answer_is_what_it_would_be_without_it(tmp_path: Path) -> None:
    form = ask(tmp_path, training__optimizer="sgd", training__learning_rate="0.3")
    question = questions(form)["training.learning_rate"]
    usual = questions(ask(tmp_path, training__optimizer="sgd"))["training.learning_rate"]
    assert question["value"] == "0.3" and question["isSet"]
    plain = questions(ask(tmp_path))["training.learning_rate"]
    assert question["default"] == usual["value"] != plain["value"]


def test_what_the_data_hold_is_told_and_their_columns_are_choices(tmp_path: Path) -> None:
    rows = [f"{n / 7},{n % 5},{'ab'[n % 2]}" for n in range(40)]
    (tmp_path / "own.csv").write_text("\n".join(["one,two,kind", *rows]) + "\n")
    task = {"project.task": "tabular_classification", "tabular_classification.dataset": "csv"}
    settings = load_catalog().settings
    path = next(key for key in questions(ask(tmp_path, task)) if settings[key].path)
    asked = questions(ask(tmp_path, {**task, path: "own.csv"}))
    assert "40 rows" in asked[path]["found"]
    columns = [q for q in asked.values() if [c["value"] for c in q["choices"]][-1:] == ["kind"]]
    assert columns


@pytest.mark.parametrize("number", [3, pytest.param(300, marks=pytest.mark.sweep)])
def test_the_command_of_a_page_writes_its_files_to_the_byte(
    tmp_path: Path, monkeypatch: Any, number: int
) -> None:
    monkeypatch.chdir(tmp_path)
    for place, (wishes, _) in enumerate(random_wishes(load_catalog(), number)):
        wishes["project.name"] = f"net{place}"
        call = page(tmp_path).call
        shown = call("render", {"wishes": wishes})
        command, *arguments = shlex.split(shown["command"])
        result = CliRunner().invoke(app, arguments)
        assert (command, result.exit_code) == ("scaffold", 0), result.output
        files = read_folder(tmp_path / f"net{place}")
        assert {name: files[name] for name in shown["files"]} == shown["files"]
        content = base64.b64decode(call("zip", {"wishes": wishes})["content"])
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                assert (tmp_path / name).read_bytes() == archive.read(name), (name, wishes)
            assert len(files) == len(archive.namelist())


def read_folder(folder: Path) -> dict[str, str]:
    texts = {name: content.decode() for name, content in read_files(folder).items()}
    texts.pop(".scaffold/.gitignore", None)  # comes with the first update
    return texts


def test_the_notebook_holds_the_files(tmp_path: Path) -> None:
    import nbformat

    call = page(tmp_path).call
    found = call("notebook", {"wishes": {"project.name": "net"}})
    book = nbformat.reads(base64.b64decode(found["content"]).decode(), as_version=4)
    nbformat.validate(book)
    head = "%%writefile net/"
    cells = [cell.source.removeprefix(head) for cell in book.cells if cell.source.startswith(head)]
    held = {name: f"{text}\n" for name, _, text in (cell.partition("\n") for cell in cells)}
    files = call("render", {"wishes": {"project.name": "net"}})["files"]
    assert {name: held[name] for name in files} == files and ".scaffold/pristine.json" in held
    assert book.cells[-1].source == "!python train.py"
    found = call("notebook", {"wishes": {"hardware.launcher": "notebook"}})
    last = json.loads(base64.b64decode(found["content"]))["cells"][-1]
    assert last["source"] == ["!python train.py"], "not a server for notebooks"


def test_the_cost_of_a_feature_is_that_of_its_lines(tmp_path: Path) -> None:
    call = page(tmp_path).call
    without = call("render", {"wishes": {}})["files"]
    on = {"features.ema.enabled": "true"}
    with_it = call("render", {"wishes": on})["files"]
    lines = sum(
        files[name].count("\n") * sign
        for files, sign in ((with_it, 1), (without, -1))
        for name in files
        if name not in ("README.md", "scaffold.toml")
    )
    assert call("cost", {"wishes": {}, "feature": "ema"}) == {"lines": lines}
    assert call("cost", {"wishes": on, "feature": "ema"}) == {"lines": lines}
    assert call("cost", {"wishes": {}, "feature": "unfreezing"}) == {"lines": None}


def test_lines_are_traced_to_their_templates(tmp_path: Path) -> None:
    call, wishes = page(tmp_path).call, {"features.ema.enabled": "true"}
    text = call("render", {"wishes": wishes})["files"]["train.py"]
    body = {"wishes": wishes, "file": "train.py", "text": f"# mine\n{text}"}
    origins = call("origins", body)["origins"]
    rows = body["text"].splitlines()
    assert len(origins) == len(rows) and origins[0] == []
    assert sum(map(len, origins)) >= len(rows) - 1
    traced = [
        where for row, found in zip(rows, origins, strict=True) if "Ema" in row for where in found
    ]
    assert traced and all(template == "features/ema/train.py" for template, _, _ in traced)
    assert {condition for _, _, condition in traced} == {"with ema"}
    assert call("origins", {"wishes": {}, "file": "none.py", "text": "a\n"}) == {"origins": [[]]}


def test_a_recipe_is_its_answers(tmp_path: Path) -> None:
    call = page(tmp_path).call
    wishes = call("recipe", {"name": "minimal"})["wishes"]
    found = call("render", {"wishes": {**wishes, "project.name": "net"}})["files"]
    result = CliRunner().invoke(
        app, ["new", "net", "--recipe", "minimal", "--print", "train.py", "--yes"]
    )
    assert found["train.py"] == result.stdout


def test_write_stays_below_the_folder_and_overwrites_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    call = page(root).call
    for folder in ("../net", "/etc/net", ".", "out/net", "~/net", "a/../../net", "\0"):
        with pytest.raises(ScaffoldError):
            call("write", {"wishes": {}, "folder": folder})
    assert [path.name for path in tmp_path.iterdir()] == ["root"]
    found = call("write", {"wishes": {}, "folder": "net"})
    assert (root / "net" / "train.py").is_file() and found["folder"] == str(root / "net")
    with pytest.raises(ScaffoldError, match="nothing is overwritten"):
        call("write", {"wishes": {}, "folder": "net"})


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.chdir(tmp_path)
    with Server(None, app) as running:
        thread = threading.Thread(target=running.serve_forever, args=[0.02])
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def request(
    server: Server, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, names)
    response = connection.getresponse()
    return response.status, response.read()


@pytest.mark.every_run
def test_a_call_needs_the_token(server: Server) -> None:
    token = {TOKEN.replace("-", "_"): server.token}
    assert request(server, "POST", "/call/ask", b"{}", **token)[0] == 200
    assert request(server, "POST", "/call/ask", b"{}")[0] == 403
    assert request(server, "POST", "/call/ask", b"{}", X_Scaffold_Token="other")[0] == 403
    assert server.server_address[0] == "127.0.0.1"
    assert len(server.token) >= 24


def test_an_edited_template_is_seen_when_the_page_is_loaded_again(
    templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(manifests, "template_root", lambda: templates)
    monkeypatch.setattr("scaffold.web.server.template_root", lambda: templates)
    load_catalog.cache_clear()
    try:
        with Server(None, app) as server:
            before = server.call("render", {})["files"]["train.py"]
            script = templates / "base/complete/train.py"
            line = "    parameters = model.parameters()"
            script.write_text(script.read_text().replace(line, f"{line}  # here"))
            server.call("start", {})
            after = server.call("render", {})["files"]["train.py"]
            assert after == before.replace(line, f"{line}  # here") != before
            (templates / "tasks/gan/task.toml").write_text("title = ")
            with pytest.raises(ScaffoldError, match=r"gan.task.toml"):
                server.call("start", {})
    finally:
        load_catalog.cache_clear()


def test_other_sites_are_refused(server: Server) -> None:
    token = {TOKEN.replace("-", "_"): server.token}
    own = f"http://127.0.0.1:{server.server_port}"
    assert request(server, "POST", "/call/ask", b"{}", Origin=own, **token)[0] == 200
    for origin in ("https://example.org", "null", "http://127.0.0.1:1", f"{own}.example.org"):
        assert request(server, "POST", "/call/ask", b"{}", Origin=origin, **token)[0] == 403
        assert request(server, "GET", "/", Origin=origin)[0] == 403
    for host in ("example.org", "127.0.0.1", f"evil.org:{server.server_port}"):
        assert request(server, "GET", "/", Host=host)[0] == 403
        assert request(server, "POST", "/call/ask", b"{}", Host=host, **token)[0] == 403


def test_only_files_of_the_page_are_served(server: Server) -> None:
    assert request(server, "GET", "/")[0] == 200
    assert request(server, "GET", "/page.js")[0] == 200
    for path in ("/../server.py", "/%2e%2e/server.py", "/server.py", "//etc/passwd", "/docs/../x"):
        assert request(server, "GET", path)[0] == 404


def test_a_bad_request_is_refused_in_words(server: Server) -> None:
    token = {TOKEN.replace("-", "_"): server.token}
    for body in (b"{", b"[]", b"\xff", b"[" * 100_000):
        status, content = request(server, "POST", "/call/ask", body, **token)
        assert status == 400 and "not valid" in json.loads(content)["error"]
    for path, body in (("/call/x", b"{}"), ("/call/ask", b'{"wishes": [1]}')):
        status, content = request(server, "POST", path, body, **token)
        assert status == 422 and json.loads(content)["error"]


def test_a_cost_is_not_found_while_somebody_waits(server: Server) -> None:
    server.waiting.add(0)
    with pytest.raises(ScaffoldError, match="something else is asked for"):
        server.call("cost", {"feature": "ema"})
    assert server.call("render", {})["files"], "another call waits for its turn alone"
    server.waiting.clear()
    assert server.call("cost", {"feature": "ema"})["lines"] > 20


def test_a_folder_that_is_no_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match="is not a scaffold project"):
        make_page(load_catalog(), tmp_path, make_anew)


def test_the_built_page_is_that_of_its_source_and_small() -> None:
    digest = hashlib.sha256()
    names = [
        path.name
        for path in sorted((WEB / "source").iterdir(), key=lambda path: path.name.encode())
        if path.suffix in (".ts", ".tsx", ".css", ".html", ".svg", ".mjs", ".json")
    ]
    assert len(names) >= 15
    for name in names:
        digest.update(f"{name}\n".encode() + (WEB / "source" / name).read_bytes())
    built = (WEB / "static" / "source.txt").read_text().strip()
    assert built == digest.hexdigest(), "build it again: see scaffold/web/source/README.md"
    assert 100_000 < sum(path.stat().st_size for path in (WEB / "static").iterdir()) < MOST


def luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_code_can_be_read_on_lines_that_are_lit_up() -> None:
    """WCAG's contrast of 4.5, in both themes."""
    parts = (WEB / "source" / "colours.css").read_text().split(":root")
    found = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in parts]
    themes = [colours for colours in found if colours]
    assert len(themes) >= 2
    for colours in themes:
        backs = [colours[name] for name in ("back", "lit", "lit-word", "gone", "gone-word")]
        code = {name: value for name, value in colours.items() if name.startswith("code-")}
        assert len(code) >= 7
        for (name, text), back in itertools.product(code.items(), backs):
            dark, light = sorted(map(luminance, (text, back)))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, text, back)


def test_nothing_comes_from_elsewhere() -> None:
    for path in (WEB / "static").iterdir():
        text = path.read_text(encoding="utf-8")
        if path.suffix in (".html", ".css"):
            assert "//" not in text.replace("http://www.w3.org", ""), path


CLIP = "accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm)"
MINE = "accelerator.clip_grad_norm_(model.parameters(), 0.5)  # mine"
NO_CLIPPING = {"features.clipping.enabled": "false"}


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """A project whose owner changed the line that clips gradients, and another one."""
    result = CliRunner().invoke(app, ["new", str(tmp_path / "net"), "--yes"])
    assert result.exit_code == 0, result.output
    replace_in(tmp_path / "net/train.py", CLIP, MINE)
    replace_in(tmp_path / "net/train.py", "import time\n", "import time  # mine too\n")
    return tmp_path / "net"


def existing(folder: Path) -> ExistingProject:
    return ExistingProject(load_catalog(), remember, folder)


def test_an_update_is_shown_with_its_conflict_and_the_answer_that_caused_it(edited: Path) -> None:
    before = read_folder(edited)
    project = existing(edited)
    found = project.call("render", {"wishes": NO_CLIPPING})
    assert found["today"]["train.py"] == before["train.py"] != found["generated"]["train.py"]
    assert "mine too" in found["files"]["train.py"]
    labels = [conflict["label"] for conflict in found["conflicts"]]
    assert labels and all(row.startswith("features.clipping.enabled = false") for row in labels)
    assert found["changed"] == [("features.clipping.enabled", "true", "false")]
    assert read_folder(edited) == before
    data = edited / "data.py"
    data.write_bytes(data.read_bytes().replace(b"\n", b"\r\n"))
    same = project.call("render", {"wishes": {}})
    assert same["today"]["data.py"] == same["generated"]["data.py"] != found["today"]["data.py"]
    assert same["files"] == same["today"] and same["undo"] is None


def test_an_update_is_applied_with_what_was_decided_and_undone(edited: Path) -> None:
    before = read_folder(edited)
    project = existing(edited)
    found = project.call("render", {"wishes": NO_CLIPPING})
    decided = {"train.py": take_side(found["files"]["train.py"], True)}
    body = {"wishes": NO_CLIPPING, "resolved": decided, "plan": found["plan"]}
    with pytest.raises(ScaffoldError, match="no conflict to decide"):
        project.call("apply", {**body, "resolved": {"model.py": ""}})
    assert read_folder(edited) == before
    project.call("apply", body)
    after = read_folder(edited)
    assert MINE in after["train.py"] and "<<<<" not in after["train.py"]
    assert "clipping" not in after["README.md"] and "clipping" in before["README.md"]
    again = project.call("render", {"wishes": {}})
    assert again["files"] == again["today"] and "clipping" in again["undo"]
    project.call("undo", {})
    assert read_folder(edited) == before


def test_a_project_that_changes_meanwhile_is_not_overwritten(edited: Path) -> None:
    project = existing(edited)
    found = project.call("render", {"wishes": NO_CLIPPING})
    assert project.call("stamp", {})["stamp"] == found["stamp"]
    (edited / "train.py").write_text((edited / "train.py").read_text() + "# later\n")
    assert project.call("stamp", {})["stamp"] != found["stamp"]
    before = read_folder(edited)
    with pytest.raises(ScaffoldError, match="has changed on the disk"):
        project.call("apply", {"wishes": NO_CLIPPING, "plan": found["plan"]})
    assert read_folder(edited) == before


def test_conflicts_that_an_update_left_are_decided_on_the_page(edited: Path) -> None:
    runner = CliRunner()
    options = ["update", str(edited), "--set", "features.clipping=false"]
    assert runner.invoke(app, options).exit_code == 1
    project = existing(edited)
    found = project.call("render", {"wishes": {}})
    assert found["open"] and {conflict["path"] for conflict in found["conflicts"]} == {"train.py"}
    text = take_side(found["files"]["train.py"], False)
    with pytest.raises(ScaffoldError, match="has changed on the disk"):
        project.call("settle", {"resolved": {"train.py": text}, "stamp": "old"})
    project.call("settle", {"resolved": {"train.py": text}, "stamp": found["stamp"]})
    assert "clip_grad_norm_" not in (edited / "train.py").read_text()
    assert not project.call("render", {"wishes": {}})["open"]
    project.call("undo", {})
    assert "<<<<<<<" in (edited / "train.py").read_text()


def test_an_undo_refuses_to_lose_later_edits(edited: Path) -> None:
    project = existing(edited)
    found = project.call("render", {"wishes": {"training.epochs": "3"}})
    project.call("apply", {"wishes": {"training.epochs": "3"}, "plan": found["plan"]})
    script = edited / "config.py"
    script.write_text(script.read_text() + "# later\n")
    with pytest.raises(ScaffoldError, match="edited since"):
        project.call("undo", {})
    project.call("undo", {"keepCopy": True})
    assert (edited / "config.py.kept").read_text().endswith("# later\n")
