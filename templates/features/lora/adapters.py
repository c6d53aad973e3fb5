#: file
"""LoRA: small trained matrices added to the frozen weights of a pretrained model.

Hu and others 2021, https://arxiv.org/abs/2106.09685
"""

from contextlib import suppress
from pathlib import Path

from accelerate import Accelerator
from model import build_model
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, load_model
from torch import nn
from weights import load_adapters

#: slot functions


#: region signature
def add_adapters(model: nn.Module, config) -> nn.Module:
    #: end signature
    """Add adapters. They are trained, and so are layers without pretrained weights."""
    #: slot frozen
    ...  #: slot layers
    if config.lora_target_modules:
        layers = list_layers(model, config.lora_target_modules)
    settings = LoraConfig(
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        lora_dropout=config.lora_dropout,
        target_modules=layers,
        #: slot settings
    )
    try:
        #: region add without transformers
        return get_peft_model(model, settings)
        #: end add
        #: region add_inside with transformers
        model.model = get_peft_model(model.model, settings)
        return model
        #: end add_inside
    except ValueError as error:  # no such layers, or layers that can't have adapters
        names = config.lora_target_modules
        raise SystemExit(f"--lora-target-modules={names} can't be used: {error}") from error


def list_layers(model: nn.Module, names: str) -> list[str] | str:
    """The names between commas, each of which is that of a layer, or the end of one."""
    if names == "all-linear":  # PEFT finds them, and leaves out that of the result
        return names
    weights = {name: getattr(part, "weight", None) for name, part in model.named_modules()}
    layers = [name.strip() for name in names.split(",") if name.strip()]
    for layer in layers:
        found = [name for name in weights if f".{name}".endswith(f".{layer}")]
        if not found:
            raise SystemExit(f"--lora-target-modules {names}: the model has no layer {layer}.")
        for name in found:  # merged, an adapter would change all layers with these weights
            others = [other for other in weights if other != name]
            if any(weights[other] is weights[name] is not None for other in others):
                raise SystemExit(
                    f"--lora-target-modules {names}: {name} shares its weights with another layer, "
                    "and adapters of such layers can't be merged. Leave it out."
                )
    return layers


def merge(model: nn.Module) -> nn.Module:
    """Merge the adapters into the weights."""
    #: region merge without transformers
    return model.merge_and_unload()
    #: end merge
    #: region merge_inside with transformers
    model.model = model.model.merge_and_unload()
    return model
    #: end merge_inside


def load_trained(model: nn.Module, config, path: Path) -> nn.Module:
    """A model with trained weights. Adapters that are not merged yet are merged."""
    if any(".lora_" in name for name in load_file(path)):
        #: region adapted
        model = add_adapters(model, config)
        #: end adapted
        load_adapters(model, path)
        return merge(model)
    load_model(model, path)
    return model


def save_adapters(accelerator: Accelerator, model: nn.Module, config) -> None:
    """Save the merged model, or write the adapters in PEFT's format too."""
    path, folder = config.output_dir / "model.safetensors", config.output_dir / "adapter"
    if accelerator.is_main_process and config.lora_merge:
        whole = load_trained(build_model(config), config, path)
        accelerator.save(whole.state_dict(), path, safe_serialization=True)
    elif accelerator.is_main_process:
        #: region save without transformers
        weights, adapted = load_file(path), accelerator.unwrap_model(model)
        adapted.save_pretrained(folder, state_dict=weights, save_embedding_layers=False)
        #: end save
        #: region save_inside with transformers
        weights = {name.removeprefix("model."): weight for name, weight in load_file(path).items()}
        adapted = accelerator.unwrap_model(model).model
        adapted.save_pretrained(folder, state_dict=weights, save_embedding_layers=False)
        #: end save_inside
        #: slot saved
    if accelerator.is_main_process:
        for file in [path, *folder.glob("*")]:
            with suppress(OSError):  # safetensors makes files private: take the mode of the folder
                file.chmod(file.parent.stat().st_mode & 0o666)
    accelerator.wait_for_everyone()
#: end file

from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as USUAL_LAYERS
from transformers.pytorch_utils import Conv1D

from model import build_tokenizer
from quantization import quantize

#: slot layers with generates
layers = USUAL_LAYERS.get(model.model.config.model_type, "all-linear")

#: slot settings with generates
fan_in_fan_out=any(isinstance(layer, Conv1D) for layer in model.modules()),
task_type={{ task.adapter | python }},

#: slot saved with generates
build_tokenizer(config).tokenizer.save_pretrained(folder)

#: slot settings when variant=rslora
use_rslora=True,

#: slot settings when variant=dora
use_dora=True,

#: replace signature when quantization=nf4
def add_adapters(model: nn.Module, config, rounded: bool = False) -> nn.Module:

#: slot frozen when quantization=nf4
quantize(model, config, rounded)

#: replace adapted when quantization=nf4
model = add_adapters(model, config, rounded=True)
