import json

import torch
from transformers import CLIPImageProcessor

from data import build_loaders

#: slot functions when model=pretrained without image_texts
def write_modules(model: nn.Module, config: Config, folder: Path) -> None:
    """Write how sentence-transformers turns the last hidden states into a vector."""
    modules = []
    for path, kind in ("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"):
        (folder / path).mkdir(exist_ok=True)
        kind = f"sentence_transformers.models.{kind}"
        modules.append({"idx": len(modules), "name": str(len(modules)), "path": path, "type": kind})
    width = model.model.config.hidden_size
    pooling = {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True}
    texts = {"modules.json": modules, "1_Pooling/config.json": pooling}
    texts["sentence_bert_config.json"] = {"max_seq_length": config.max_length}
    for name, values in texts.items():
        (folder / name).write_text(json.dumps(values, indent=2))

#: slot saved when model=pretrained without image_texts
write_modules(model, config, folder)

#: slot before_saved when model=pretrained with image_texts
model.model.logit_scale = nn.Parameter(model.log_scale.detach().reshape(()))
pixels, _ = CLIPImageProcessor.get_image_processor_dict(config.pretrained_name)
(folder / "preprocessor_config.json").write_text(json.dumps(pixels, indent=2))

#: replace export_free without image_texts
FREE = (0, 1)  # dynamic dimensions of the inputs: texts and tokens

#: replace export_functions without image_texts
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch."""
    tokens, mask, _ = next(iter(build_loaders(config)[2]))
    return tokens.flatten(0, 1), mask.flatten(0, 1)

#: slot batches without image_texts
batches.append(tuple(values[:1, : (values.shape[1] + 1) // 2] for values in inputs))  # half a text

#: replace export_free with image_texts
FREE = (0,), (0, 1), (0, 1)  # dynamic dimensions of images, tokens and mask

#: replace export_functions with image_texts
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch."""
    return next(iter(build_loaders(config)[2]))[:3]

#: replace sizes with image_texts
shapes = tuple(dict.fromkeys(free, torch.export.Dim.DYNAMIC) for free in FREE)
return torch.export.export(model, inputs, dynamic_shapes=shapes)

#: slot batches with image_texts
images, tokens, mask = (values[:1] for values in inputs)
half = (tokens.shape[1] + 1) // 2
batches.append((images, tokens[:, :half], mask[:, :half]))  # half a text
