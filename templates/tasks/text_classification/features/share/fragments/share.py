#: slot copies
# the folder for from_pretrained: it needs no code of this project
if not (run / "transformers").exists():
    raise SystemExit(f"{run} has not finished: there is no {run / 'transformers'}.")
copies |= {path.name: path for path in (run / "transformers").iterdir()}
