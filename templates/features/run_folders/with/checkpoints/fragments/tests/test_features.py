from checkpoint import find_checkpoints
from helpers import run

#: slot tests
def test_the_newest_run_with_a_checkpoint_is_resumed(tmp_path):
    """It continues in its folder, and so does a named checkpoint of any run."""
    pattern = tmp_path / "{time}"
    for _ in range(2):
        run(pattern, epochs=1, max_steps=2)
    older, newer = sorted(tmp_path.iterdir())
    empty = tmp_path / "2999-01-01_00-00-00"
    empty.mkdir()
    run(pattern, epochs=1, max_steps=3, resume="newest")
    counts = [len(find_checkpoints(folder)) for folder in (older, newer, empty)]
    assert counts == [1, 2, 0]
    [first] = find_checkpoints(older)
    run(pattern, epochs=1, max_steps=3, resume=str(first))
    assert len(find_checkpoints(older)) == 2
    assert sorted(tmp_path.iterdir()) == [older, newer, empty]
