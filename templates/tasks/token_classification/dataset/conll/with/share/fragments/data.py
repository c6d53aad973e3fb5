#: slot saved_names
saved = Path(config.output_dir, "tags.json")
if saved.exists() and not Path(config.path).exists():  # a shared run has no data
    return json.loads(saved.read_text())
