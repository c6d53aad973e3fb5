import train
from helpers import column, run

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
