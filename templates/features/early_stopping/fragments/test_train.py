from unittest import mock

import train

#: slot settings
"early_stopping_patience": 99,

#: slot tests
def test_early_stopping_ends_the_run(tmp_path, capsys):
    """It stops after its patience, and a run that is resumed afterwards stays stopped."""

    def evaluate(model, loader, accelerator, name, limit):
        return {"val_loss": 0.5, {{ task.metric | python }}: 0.5}

    with mock.patch.object(train, "evaluate", evaluate):
        run(tmp_path, epochs=9, early_stopping_patience=2)
        assert len(column(capsys.readouterr().out, "loss")) == 18, "3 epochs: 1 best, 2 no better"
        run(tmp_path, epochs=9, early_stopping_patience=2, resume="newest")
        assert not column(capsys.readouterr().out, "loss"), "the stop was forgotten"
