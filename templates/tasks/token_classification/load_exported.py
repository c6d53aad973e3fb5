#: replace build
model = build_model(config, json.loads((folder / "tags.json").read_text()))
