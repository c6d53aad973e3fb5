from copy import deepcopy

from transformers import AutoImageProcessor

#: slot formats when model=transformers
"transformers": "the model and its image processor, for from_pretrained",

#: slot functions when model=transformers
def export_transformers(model: nn.Module, config: Config, folder: Path) -> Program:
    model.model.save_pretrained(folder)
    AutoImageProcessor.from_pretrained(config.pretrained_name).save_pretrained(folder)
    loaded = deepcopy(model)  # keep the scaling around the transformers model
    loaded.model = type(model.model).from_pretrained(folder).eval()
    return loaded

#: slot exported when model=transformers
elif format == "transformers":
    program = export_transformers(model, config, folder)
