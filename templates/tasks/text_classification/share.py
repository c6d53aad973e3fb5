#: slot task
TASK = "text-classification"  # one of https://huggingface.co/tasks

#: replace library
library_name="transformers",

#: slot metadata when dataset=huggingface
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,

#: slot metadata when model=pretrained
base_model=None if Path(config.pretrained_name).exists() else config.pretrained_name,

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
