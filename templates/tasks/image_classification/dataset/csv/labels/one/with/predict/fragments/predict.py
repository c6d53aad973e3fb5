import json

#: slot before_batches
names = json.loads((config.output_dir / "classes.json").read_text())

#: replace named
chance_of = dict(zip(names, chances, strict=True))
row = {"label": max(chance_of, key=chance_of.get)}
rows.append(row | {f"p_{name}": chance for name, chance in chance_of.items()})
