import train
from helpers import column, run

#: slot tests
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
