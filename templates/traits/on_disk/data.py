import json

#: slot saved_names with predict
saved = Path(config.output_dir, "classes.json")
if saved.exists() and not Path(config.path).exists():  # the run was moved
    return json.loads(saved.read_text())
