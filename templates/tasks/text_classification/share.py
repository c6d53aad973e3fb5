#: replace library
library_name="transformers",

#: replace saved with lora
saved = run / ("transformers" if config.lora_merge else "adapter")

#: replace share
# the folder for from_pretrained: it needs no code of this project
#: region saved
saved = run / "transformers"
#: end saved
if not saved.exists():
    raise SystemExit(f"{run} has not finished: there is no {saved}.")
copies |= {path.name: path for path in saved.iterdir()}
