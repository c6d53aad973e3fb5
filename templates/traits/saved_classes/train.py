import json
from pathlib import Path

from data import class_names

#: slot start_of_training
if accelerator.is_main_process:  # a label is an index into this list
    Path(config.output_dir).mkdir(parents=True, exist_ok=True)
    Path(config.output_dir, "classes.json").write_text(json.dumps(class_names(config)))
