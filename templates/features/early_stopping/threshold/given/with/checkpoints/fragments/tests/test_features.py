import train
from helpers import column, run

#: slot tests
def test_a_reached_threshold_is_remembered(tmp_path, monkeypatch, capsys):
    evaluate, name = train.evaluate, {{ features.early_stopping.monitor | python }}
    good = {name: {{ features.early_stopping.threshold }}}
    with monkeypatch.context() as patch:
        patch.setattr(train, "evaluate", lambda *to: {**evaluate(*to), **good})
        run(tmp_path)
    capsys.readouterr()
    run(tmp_path, resume="newest")
    assert not column(capsys.readouterr().out, "loss"), "the resumed run trains"
