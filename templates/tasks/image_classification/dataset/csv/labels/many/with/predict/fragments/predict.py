import json

#: slot before_batches
names = json.loads((config.output_dir / "classes.json").read_text())
