#: slot settings
"evaluation_by_updates_every": 6,

#: slot tests
def test_evaluates_every_so_many_updates(tmp_path, capsys):
    run(tmp_path, evaluation_by_updates_every=5)
    lines = [line for line in capsys.readouterr().out.splitlines() if "val_{{ task.metrics[0] }}" in line]
    found = [line.split()[2] for line in lines if line.startswith("evaluated update")]
    assert found == ["5", "10", "12"], "12 updates in 2 epochs, and the last one is evaluated"
    assert not [line for line in lines if line.startswith("epoch")], "evaluated twice"


def test_resume_between_evaluations_is_exact(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(SETTINGS, "evaluation_by_updates_every", 4)
    test_resume_is_exact(tmp_path, monkeypatch, capsys, every=4)
