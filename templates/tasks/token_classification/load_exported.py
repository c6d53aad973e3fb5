#: slot built
, json.loads((folder / "tags.json").read_text())
