from copy import deepcopy
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from peft import PeftModel
from safetensors.torch import load_file
from torch import Tensor, nn

import adapters
import train
from data import build_loaders
from helpers import SETTINGS, run
from model import build_model
from quantization import Frozen4bit, quantize

#: into tests/helpers.py
#: slot settings
"lora_rank": 4,
"lora_dropout": 0.0,
"lora_target_modules": "",
"lora_merge": False,

#: slot settings when quantization=nf4
"lora_compute_dtype": "float32",

#: into tests/test_features.py
#: slot tests
def outputs_of(model: nn.Module) -> Tensor:
    """What a model computes for some of the validation data."""
    found, accelerator = [], Accelerator()
    loader = accelerator.prepare(build_loaders(train.Config(**SETTINGS))[1])
    #: region outputs
    model.register_forward_hook(
        lambda _, __, output: found.append(getattr(output, "logits", output).flatten())
    )
    #: end outputs
    train.evaluate(accelerator, model, loader, "val", 2)
    return torch.cat(found)


def test_only_adapters_are_trained_and_saved(tmp_path, monkeypatch):
    add, built = train.add_adapters, []

    def add_and_keep(model, config):
        model = add(model, config)
        built.append((model, {name: w.detach().clone() for name, w in model.named_parameters()}))
        return model

    monkeypatch.setattr(train, "add_adapters", add_and_keep)
    run(tmp_path, epochs=1)
    (model, before), saved = built[0], load_file(tmp_path / "model.safetensors")
    changed = {name for name, w in model.named_parameters() if not torch.equal(w, before[name])}
    trained = {name for name, w in model.named_parameters() if w.requires_grad}
    assert changed <= trained < before.keys() and changed & {n for n in trained if ".lora_" in n}
    assert trained <= saved.keys() and not saved.keys() & (before.keys() - trained)


def test_merged_weights_and_the_folder_of_peft_compute_the_same(tmp_path):
    """All compute the same as the trained model: adapters only, merged, and loaded by PEFT."""
    folders = {merge: run(tmp_path / str(merge), epochs=1, lora_merge=merge) for merge in (0, 1)}
    files = {merge: folder / "model.safetensors" for merge, folder in folders.items()}
    config = train.Config(**SETTINGS)
    trained = adapters.add_adapters(build_model(config), config)
    adapters.load_adapters(trained, files[0])
    expected = outputs_of(trained)
    assert not any(".lora_" in name for name in load_file(files[1]))
    for file in files.values():
        found = outputs_of(adapters.load_trained(build_model(config), config, file))
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(
        outputs_of(load_with_peft(config, folders[0] / "adapter")), expected, rtol=0, atol=1e-5
    )


def load_with_peft(config, folder: Path) -> nn.Module:
    model = build_model(config)
    #: slot frozen
    #: region peft without transformers
    return PeftModel.from_pretrained(model, folder)
    #: end peft
    #: region peft_inside with transformers
    model.model = PeftModel.from_pretrained(model.model, folder)
    return model
    #: end peft_inside


def test_unknown_layers_are_refused():
    config = train.Config(**{**SETTINGS, "lora_target_modules": "nothing"})
    with pytest.raises(SystemExit, match="lora-target-modules nothing: the model has no layer"):
        adapters.add_adapters(build_model(config), config)

#: slot frozen when quantization=nf4
quantize(model, config, rounded=True)

#: slot tests when quantization=nf4
def test_frozen_layers_have_4_bits_and_compute_as_rounded_ones():
    config = train.Config(**SETTINGS)
    small = build_model(config)
    rounded = deepcopy(small)
    quantize(small, config)
    quantize(rounded, config, rounded=True)
    layers = [layer for layer in small.modules() if isinstance(layer, Frozen4bit)]
    assert layers and all(layer.weight.dtype == torch.uint8 for layer in layers)
    assert small.state_dict().keys() < rounded.state_dict().keys()
    torch.testing.assert_close(outputs_of(small), outputs_of(rounded), rtol=0, atol=1e-4)
