from dataclasses import replace

from data import build_loaders, load_tokenizer
from model import build_model

#: replace export_free
FREE = (0, 1)  # dynamic dimensions of the inputs: samples and tokens

#: replace export_functions
def read_inputs(config: Config) -> Inputs:
    """What the model takes of the first batch of the test data: conversations and their mask."""
    return tuple(part.flatten(0, 1) for part in next(iter(build_loaders(config)[2])))

#: slot batches
batches.append(tuple(values[:1, : (values.shape[1] + 1) // 2] for values in inputs))  # half a text

#: slot formats when model=pretrained
"transformers": "the model and its tokenizer, for AutoModelForSequenceClassification",

#: slot functions when model=pretrained
def export_transformers(model: nn.Module, config: Config, folder: Path) -> Program:
    model.model.save_pretrained(folder)
    load_tokenizer(config).save_pretrained(folder)
    return build_model(replace(config, model_name=str(folder))).eval()

#: slot exported when model=pretrained
elif format == "transformers":
    program = export_transformers(model, config, folder)
