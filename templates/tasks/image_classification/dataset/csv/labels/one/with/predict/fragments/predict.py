import json

#: slot before_batches
names = json.loads((config.output_dir / "classes.json").read_text())

#: replace named
prob_of = dict(zip(names, probs, strict=True))
row = {"label": max(prob_of, key=prob_of.get)}
rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})
