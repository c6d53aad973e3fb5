#: slot after_resume
assert_same_files(whole.parent, resumed.parent, ["metrics.jsonl"])
