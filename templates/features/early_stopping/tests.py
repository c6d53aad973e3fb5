import train
from helpers import column, run

#: into tests/helpers.py
#: slot settings
"patience": 0,

#: into tests/test_features.py
#: slot tests
def test_early_stopping_ends_the_run(tmp_path, monkeypatch, capsys):
    update, seen = train.EarlyStopping.update, []

    def stay_the_same(early_stopping, score):
        seen.append(score)
        update(early_stopping, 0.5)

    monkeypatch.setattr(train.EarlyStopping, "update", stay_the_same)
    run(tmp_path, epochs=9, patience=2)
    assert len(seen) == 3, "the first evaluation is the best, then 2 without improvement"
    assert len(column(capsys.readouterr().out, "loss")) <= 18, "training continued after the stop"

#: slot tests when threshold=given
def test_the_threshold_ends_the_run(tmp_path, monkeypatch, capsys):
    """A value just short of the threshold does not stop the run."""
    evaluate, name = train.evaluate, {{ features.early_stopping.monitor | python }}
    limit = {{ features.early_stopping.threshold }}
    just_worse = limit {{ "+" if features.early_stopping.sign else "-" }} 1e-6 * max(1, abs(limit))
    for value, steps in ((just_worse, 12), (limit, 6)):
        monkeypatch.setattr(train, "evaluate", lambda *to, v=value: {**evaluate(*to), name: v})
        run(tmp_path / str(steps), patience=99)
        log = capsys.readouterr().out
        assert len(column(log, "loss")) == steps
        assert (f"early stop: {name} reached" in log) == (value == limit)

#: slot tests with checkpoints
def test_an_early_stop_is_remembered(tmp_path, monkeypatch, capsys):
    update = train.EarlyStopping.update
    monkeypatch.setattr(train.EarlyStopping, "update", lambda stopping, _: update(stopping, 0.5))
    run(tmp_path, epochs=9, patience=2)
    capsys.readouterr()
    #: region written with metrics_file
    written = (tmp_path / "metrics.jsonl").read_text()
    #: end written
    run(tmp_path, epochs=9, patience=2, resume="newest")
    assert not column(capsys.readouterr().out, "loss"), "the resumed run trains"
    #: region written_again with metrics_file
    assert (tmp_path / "metrics.jsonl").read_text() == written
    #: end written_again

#: slot tests when threshold=given with checkpoints
def test_a_reached_threshold_is_remembered(tmp_path, monkeypatch, capsys):
    evaluate, name = train.evaluate, {{ features.early_stopping.monitor | python }}
    good = {name: {{ features.early_stopping.threshold }}}
    with monkeypatch.context() as patch:
        patch.setattr(train, "evaluate", lambda *to: {**evaluate(*to), **good})
        run(tmp_path)
    capsys.readouterr()
    run(tmp_path, resume="newest")
    assert not column(capsys.readouterr().out, "loss"), "the resumed run trains"
