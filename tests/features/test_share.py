"""The folder that share.py writes: others predict with it as its card says; a Hub takes it."""

import json
import re
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from support.combinations import FIRST_TASK
from support.files import write_files
from support.inputs import use_card
from support.rendering import render
from support.training import fail, run, start

pytestmark = pytest.mark.train

FEATURE = {"features.share.enabled": True}
EPOCH = ["train.py", "--epochs", "1"]


def share(folder: Path, *arguments: str) -> str:
    return run(folder, "share.py", *arguments)


def test_others_predict_as_the_card_says(tmp_path: Path) -> None:
    """Without the project and its run, and with no file more than they need."""
    folder = write_files(tmp_path / "project", {**render(FEATURE), "notes.py": "SECRET = 1"})
    untrained = fail(folder, "share.py")
    assert untrained.count("\n") == 1 and "No run in runs/ is finished" in untrained
    run(folder, *EPOCH)
    assert share(folder).splitlines()[-1].startswith("Wrote shared. Fill in what is marked")
    shutil.move(folder / "shared", tmp_path / "elsewhere")
    (folder / "runs").rename(folder / "gone")
    shared = tmp_path / "elsewhere"
    names = {path.name for path in shared.iterdir()}
    assert {"predict.py", "model.py", "data.py", "pyproject.toml", "README.md"} < names
    assert not names & {"notes.py", "share.py", "scaffold.toml", "tests", ".scaffold"}
    card = (shared / "README.md").read_text()
    lines = (folder / "gone/latest/metrics.jsonl").read_text().splitlines()
    [tested] = [json.loads(line) for line in lines if "test_accuracy" in line]
    assert f"| test_accuracy | {tested['test_accuracy']:.5g} |" in card
    assert "- Hardware: 1 x cpu, mixed precision: no\n" in card
    assert re.search(r"- Parameters: 29,258\n- Versions: ", card)
    assert card.count("**to fill in**") == 3
    assert "\n![curves.png](curves.png)\n" in card
    assert (shared / "curves.png").read_bytes().startswith(b"\x89PNG")
    printed = use_card(shared, FIRST_TASK)
    assert len(printed["sh"].splitlines()) == 4, "a row for each of the three images"
    assert printed["python"].startswith("[{'image': 'image.png', 'label': ")


def test_a_card_has_the_intervals_of_these_weights(tmp_path: Path) -> None:
    """Those that evaluate.py wrote, unless they are of others."""
    folder = write_files(tmp_path, render({**FEATURE, "features.evaluate.enabled": True}))
    run(folder, *EPOCH, "--max-steps", "2")
    printed = share(folder, "--output", "before")
    assert "have no intervals: run evaluate.py --run runs/latest first.\n" in printed
    head = "| metric | value | 95% interval |\n"
    assert head in (card := (folder / "before/README.md").read_text())
    assert re.search(r"\| test_accuracy \| [\d.]+ \|  \|\n", card)
    run(folder, "evaluate.py")
    with (folder / "runs/latest/metrics.jsonl").open("a") as file:
        file.write('{"step": 9, "test_los')  # cut off
    assert "intervals" not in share(folder, "--output", "after")
    card = (folder / "after/README.md").read_text()
    assert re.search(r"\| test_accuracy \| [\d.]+ \| [\d.]+ to [\d.]+ \|\n", card)
    report = folder / "runs/latest/evaluation/test/metrics.json"
    other = json.loads(report.read_text())
    without = {name: {"value": row["value"]} for name, row in other.items() if "value" in row}
    report.write_text(json.dumps(without))  # as for a task whose metrics have none
    assert "intervals" not in share(folder, "--output", "without")
    other["test_accuracy"]["value"] += 0.1
    report.write_text(json.dumps(other))
    share(folder, "--output", "other")
    card = (folder / "other/README.md").read_text()
    assert re.search(r"\| test_accuracy \| [\d.]+ \|  \|\n", card)


class Hub(BaseHTTPRequestHandler):
    """What huggingface_hub asks the Hub for, when it uploads a folder."""

    asked: ClassVar[list[tuple[str, bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
        self.asked.append((self.path, body))
        address = f"http://127.0.0.1:{self.server.server_address[1]}/me/it"
        regular = {"uploadMode": "regular", "shouldIgnore": False}
        files = json.loads(body)["files"] if self.path.endswith("/preupload/main") else []
        answers = {
            "/api/repos/create": {"url": address},
            "/api/validate-yaml": {"errors": [], "warnings": []},
            "/api/models/me/it/preupload/main": {
                "files": [{"path": file["path"], **regular} for file in files]
            },
            "/api/models/me/it/commit/main": {
                "commitUrl": f"{address}/commit/1",
                "commitOid": "1" * 40,
            },
        }
        data = json.dumps(answers.get(self.path, {"error": "there is nothing"})).encode()
        self.send_response(200 if self.path in answers else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[str]:
    """The address of a stand-in for the Hub."""
    Hub.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


UPLOAD = """
import share, sys
for repo in sys.argv[1:]:
    sys.argv = ["share.py", "--repo", repo]
    share.main()
"""


def test_huggingface_hub_uploads_the_folder(tmp_path: Path, hub: str) -> None:
    """All files in one commit to a new repository, which is private. A refusal is one line."""
    folder = write_files(tmp_path, render(FEATURE))
    run(folder, *EPOCH, "--max-steps", "2")
    online = {"HF_ENDPOINT": hub, "HF_HUB_OFFLINE": "0", "HF_TOKEN": "hf_none"}
    # both in one process, which is not warm: huggingface_hub reads these variables at its import
    result = start(folder, ["-c", UPLOAD, "me/it", "you/it"], real=True, **online)
    assert result.stdout.splitlines()[-1] == "Uploaded shared to me/it."
    asked = dict(Hub.asked)
    created = json.loads(asked["/api/repos/create"])
    assert created.get("visibility") == "private" or created["private"] is True
    lines = [json.loads(line) for line in asked["/api/models/me/it/commit/main"].splitlines()]
    sent = {line["value"]["path"] for line in lines if line["key"] == "file"}
    shared = folder / "shared"
    assert sent == {str(path.relative_to(shared)) for path in shared.rglob("*") if path.is_file()}
    assert {"README.md", "run/model.safetensors", "run/config.json", "model.py"} < sent
    assert "hf download me/it" in (shared / "README.md").read_text()
    assert result.returncode == 1
    assert result.stderr.startswith("shared could not be uploaded to you/it: Client error '404")
    assert result.stderr.count("\n") == 1
