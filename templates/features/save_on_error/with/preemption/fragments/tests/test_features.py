#: replace nothing_saved
assert [path.name for path in find_checkpoints(tmp_path)] == ["checkpoint_00000003"]
