from helpers import run

#: slot tests
def test_a_resumed_run_does_not_repeat_the_first_evaluation(tmp_path, capsys):
    run(tmp_path, epochs=1)
    capsys.readouterr()
    run(tmp_path, epochs=2, resume="newest")
    assert "before training" not in capsys.readouterr().out
