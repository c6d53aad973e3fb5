from dataclasses import replace

from data import build_loaders
from lib.extractors import load_extractor
from model import build_model

#: replace export_free when model=ctc|pretrained
FREE = (0, 1)  # dynamic dimensions of the inputs: samples, and their lengths

#: replace export_functions when model=ctc|pretrained
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch, the longest sound first."""
    inputs, lengths, *_ = next(iter(build_loaders(config)[2]))
    order = lengths.argsort(descending=True)
    return inputs[order], lengths[order]

#: replace sizes when model=ctc|pretrained
sizes = dict.fromkeys(FREE, torch.export.Dim.DYNAMIC)
shapes = tuple({dim: sizes[dim] for dim in FREE[: values.dim()]} for values in inputs)
return torch.export.export(model, inputs, dynamic_shapes=shapes)

#: slot batches when model=ctc|pretrained
batches.append(tuple(values[1:2] for values in inputs))

#: slot formats when model=whisper
"transformers": "the model, its tokenizer and feature extractor, for from_pretrained",

#: replace export_free when model=whisper
FREE = {0: torch.export.Dim.DYNAMIC}  # dimensions whose size may change: samples

#: replace export_functions when model=whisper
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch."""
    *inputs, _ = next(iter(build_loaders(config)[2]))
    return tuple(inputs)


def export_transformers(model: nn.Module, config: Config, folder: Path) -> Program:
    # a model that was saved during a training may say False, and generate() would be slow
    model.model.config.use_cache = model.model.generation_config.use_cache = True
    model.model.save_pretrained(folder)
    model.tokenizer.tokenizer.save_pretrained(folder)
    load_extractor(config.pretrained_name).save_pretrained(folder)
    return build_model(replace(config, pretrained_name=str(folder))).eval()

#: replace sizes when model=whisper
shapes = (FREE, {**FREE, 1: torch.export.Dim.DYNAMIC})  # and the tokens of a text
return torch.export.export(model, inputs, dynamic_shapes=shapes)

#: slot batches when model=whisper
batches.append((inputs[0][:1], inputs[1][:1, : (inputs[1].shape[1] + 1) // 2]))  # half a text

#: slot exported when model=whisper
elif format == "transformers":
    program = export_transformers(model, config, folder)

#: into load_exported.py when model=ctc|pretrained
#: slot built
, json.loads((folder / "letters.json").read_text())
