#: replace build when model=ctc|pretrained
model = build_model(config, json.loads((folder / "letters.json").read_text()))
