import train

#: slot tests
def test_the_threshold_ends_the_run(tmp_path, monkeypatch, capsys):
    """A value that is just not good enough goes on. A run that reached it stays stopped."""
    evaluate, name = train.evaluate, {{ features.early_stopping.monitor | python }}
    limit = {{ features.early_stopping.threshold }}
    just_worse = limit {{ "+" if features.early_stopping.sign else "-" }} 1e-6 * max(1, abs(limit))
    for value, updates in ((just_worse, 12), (limit, 6)):
        monkeypatch.setattr(train, "evaluate", lambda *to, v=value: {**evaluate(*to), name: v})
        run(tmp_path / str(updates), early_stopping_patience=99)
        log = capsys.readouterr().out
        assert len(column(log, "loss")) == updates
        assert (f"early stop: {name} reached" in log) == (value == limit)
    monkeypatch.undo()
    run(tmp_path / "6", resume="newest")
    assert not column(capsys.readouterr().out, "loss"), "the stop was forgotten"
