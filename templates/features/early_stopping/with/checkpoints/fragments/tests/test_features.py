import train
from helpers import column, run

#: slot tests
def test_an_early_stop_is_remembered(tmp_path, monkeypatch, capsys):
    update = train.EarlyStopping.update
    monkeypatch.setattr(train.EarlyStopping, "update", lambda stopping, _: update(stopping, 0.5))
    run(tmp_path, epochs=9, patience=2)
    capsys.readouterr()
    run(tmp_path, epochs=9, patience=2, resume="newest")
    assert not column(capsys.readouterr().out, "loss"), "the resumed run trains"
