import train

#: slot settings
"early_stopping_patience": 99,

#: slot tests
def test_early_stopping_ends_the_run(tmp_path, monkeypatch, capsys):
    """It stops after its patience, and a run that is resumed afterwards stays stopped."""
    step, stepped = train.EarlyStopping.step, []

    def stay_the_same(early_stopping, score):
        stepped.append(score)
        step(early_stopping, 0.5)

    monkeypatch.setattr(train.EarlyStopping, "step", stay_the_same)
    run(tmp_path, epochs=9, early_stopping_patience=2)
    assert len(stepped) == 3, "1 evaluation is the best, and 2 are no better"
    assert len(column(capsys.readouterr().out, "loss")) <= 18, "it went on after the evaluation"
    run(tmp_path, epochs=9, early_stopping_patience=2, resume="newest")
    assert not column(capsys.readouterr().out, "loss"), "the stop was forgotten"
