#: slot tests
def test_resume_auto_begins_and_goes_on(tmp_path, capsys):
    """What is started again by itself begins where there is no checkpoint, and else goes on."""
    run(tmp_path, epochs=1, resume="auto")
    assert "resumed" not in capsys.readouterr().out
    run(tmp_path, resume="auto")
    assert "resumed" in capsys.readouterr().out
