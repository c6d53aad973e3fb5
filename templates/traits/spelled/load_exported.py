#: replace build
model = build_model(config, json.loads((folder / "letters.json").read_text()))
