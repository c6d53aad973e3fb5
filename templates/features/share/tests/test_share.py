#: file
"""share.py writes a complete folder with a card, and uploads it."""

import json
import sys

import pytest
import share
from helpers import run
from huggingface_hub import ModelCard


def write(monkeypatch, *arguments) -> None:
    monkeypatch.setattr(sys, "argv", ["share.py", *map(str, arguments)])
    share.main()


def test_a_run_is_shared(tmp_path, monkeypatch):
    """The card says how the model was trained, but not on which machine."""
    run(tmp_path / "run", epochs=1)
    shared = tmp_path / "shared"
    write(monkeypatch, "--run", tmp_path / "run", "--output", shared, "--license", "mit")
    card = ModelCard.load(shared / "README.md")
    assert card.data.license == "mit"
    assert card.data.pipeline_tag == share.TASK
    assert "| epochs | 1 |" in card.text
    assert json.loads((shared / "run/config.json").read_text())["settings"]["epochs"] == 1
    assert any(path.stat().st_size > 1000 for path in shared.rglob("*model.safetensors"))
    texts = [path for path in shared.rglob("*") if path.suffix in (".json", ".jsonl", ".md")]
    assert not [path for path in texts if str(tmp_path) in path.read_text()]
    before = (shared / "README.md").read_text()
    with pytest.raises(SystemExit, match="exists: delete it, or choose another --output"):
        write(monkeypatch, "--run", tmp_path / "run", "--output", shared)
    assert (shared / "README.md").read_text() == before
    (tmp_path / "run/model.safetensors").unlink()
    with pytest.raises(SystemExit, match="can't be loaded"):
        write(monkeypatch, "--run", tmp_path / "run", "--output", tmp_path / "other")
    assert not (tmp_path / "other").exists()


class Hub:
    """Stands in for the Hub, and refuses some names as it does."""

    uploads = []  # noqa: RUF012

    def create_repo(self, repo: str, *, private: bool, exist_ok: bool) -> None:
        assert private and exist_ok
        if repo.startswith("other/"):
            raise OSError("403 Forbidden:\nthis is not yours")

    def upload_folder(self, *, repo_id: str, folder_path, ignore_patterns) -> None:
        self.uploads.append((repo_id, (folder_path / "README.md").read_text()))


def test_a_folder_is_uploaded_as_it_is(tmp_path, monkeypatch):
    (tmp_path / "README.md").write_text("edited\nhf download USER/NAME")
    arguments = ["--output", tmp_path, "--repo"]
    monkeypatch.setattr(share, "HfApi", Hub)
    monkeypatch.setattr(share, "get_token", lambda: None)
    with pytest.raises(SystemExit, match="Log in to the Hugging Face Hub first: hf auth login"):
        write(monkeypatch, *arguments, "me/it")
    monkeypatch.setattr(share, "get_token", lambda: "token")
    with pytest.raises(SystemExit, match="not be uploaded to other/it: 403 Forbidden: this is not"):
        write(monkeypatch, *arguments, "other/it")
    assert not Hub.uploads
    write(monkeypatch, *arguments, "me/it")
    assert Hub.uploads == [("me/it", "edited\nhf download me/it")]
