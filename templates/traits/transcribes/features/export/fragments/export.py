from dataclasses import replace

from data import build_loaders, load_extractor
from model import build_model

#: slot formats
"transformers": "the model, its tokenizer and feature extractor, for from_pretrained",

#: slot free
FREE = {0: torch.export.Dim.DYNAMIC}  # dimensions whose size may change: samples

#: slot functions
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch."""
    *inputs, _ = next(iter(build_loaders(config)[2]))
    return tuple(inputs)


def export_transformers(model: nn.Module, config: Config, folder: Path) -> Program:
    model.model.save_pretrained(folder)
    model.tokenizer.tokenizer.save_pretrained(folder)
    load_extractor(config.pretrained_name).save_pretrained(folder)
    return build_model(replace(config, pretrained_name=str(folder))).eval()

#: replace sizes
shapes = (FREE, {**FREE, 1: torch.export.Dim.DYNAMIC})  # and the tokens of a text
return torch.export.export(model, inputs, dynamic_shapes=shapes)

#: slot batches
batches.append((inputs[0][:1], inputs[1][:1, : (inputs[1].shape[1] + 1) // 2]))  # half a text

#: slot exported
elif format == "transformers":
    program = export_transformers(model, config, folder)
