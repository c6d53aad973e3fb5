from config import find_checkpoints
from helpers import run

#: into tests/test_features.py
#: slot tests
def test_a_flipped_bit_is_noticed(tmp_path, capsys):
    """The run continues from the previous checkpoint."""
    run(tmp_path, epochs=2)
    before, newest = find_checkpoints(tmp_path)
    content = bytearray((newest / "loop.pt").read_bytes())
    content[len(content) // 2] ^= 1
    (newest / "loop.pt").write_bytes(content)
    run(tmp_path, epochs=2, resume="newest")
    log = capsys.readouterr().out
    assert f"{newest} is damaged or incomplete: loop.pt" in log
    assert f"resumed from {before} at step" in log

#: into tests/test_resume.py
#: replace damage
