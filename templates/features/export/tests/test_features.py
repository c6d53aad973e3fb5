import sys
from pathlib import Path

import pytest

import export
from helpers import run

#: slot tests
def test_each_export_computes_the_same(tmp_path, monkeypatch, capsys):
    run(tmp_path, epochs=1)
    for format in export.FORMATS:
        write_export(tmp_path, format, monkeypatch)
        assert f"has the model as {format}" in capsys.readouterr().out
        with pytest.raises(SystemExit, match="exists"):
            write_export(tmp_path, format, monkeypatch)


def test_an_export_that_computes_something_else_is_not_written(tmp_path, monkeypatch):
    run(tmp_path, epochs=1)
    written = export.export_torch

    def change(*given):
        program = written(*given)
        return lambda *inputs: 1.0001 * program(*inputs) + 1e-4

    monkeypatch.setattr(export, "export_torch", change)
    with pytest.raises(SystemExit, match="outputs differ"):
        write_export(tmp_path, "torch", monkeypatch)
    assert not list((tmp_path / "export").iterdir())


def test_a_model_that_branches_on_values_is_refused(tmp_path, monkeypatch):
    """One line with the reason, and nothing is written."""
    run(tmp_path, epochs=1)
    trace = export.trace

    def trace_branch(model, inputs):
        model.register_forward_hook(lambda _, __, output: output if output.sum() > 0 else -output)
        return trace(model, inputs)

    monkeypatch.setattr(export, "trace", trace_branch)
    with pytest.raises(SystemExit, match="Can't export as torch: .*data-dependent"):
        write_export(tmp_path, "torch", monkeypatch)
    assert not list((tmp_path / "export").iterdir())


def write_export(run: Path, format: str, monkeypatch) -> None:
    monkeypatch.setattr(sys, "argv", ["export.py", f"--run={run}", f"--format={format}"])
    export.main()
