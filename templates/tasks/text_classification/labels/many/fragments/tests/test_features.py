#: replace rows
label = build_datasets(config)[0][0][1]
rows = [(columns * [text], label) for text in ("a", "a b")]
