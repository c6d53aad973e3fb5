"""The model that the answers choose, as far as its memory depends on it.

The small GPT of the templates is known from its settings, a pretrained model from its folder. For
others, such as GPT-2, whose dropout and GELU keep more, activations are not known.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.resolve import chosen, task_values
from scaffold.answers.weights import Weights, read_weights

NORMED_QUERIES = ("qwen3",)
# architectures whose layers are those of Llama: gated MLPs, and norms of several operations
LLAMAS = ("gemma", "llama", "mistral", "qwen2", *NORMED_QUERIES)


@dataclass(frozen=True)
class Layers:
    """What the layers of a decoder keep of each token: numbers, not bytes."""

    count: int
    width: int  # what activation checkpointing keeps of a layer
    full: int  # by norms and between layers, always in 32 bits
    half: int  # by matrix products and the attention, in 16 bits with mixed precision
    vocabulary: int
    tokens: int  # of a sample, at most


@dataclass(frozen=True)
class Model:
    """What is known of the model that the answers choose."""

    parameters: int
    trained: int
    largest: int = 0  # parameters of the largest matrix
    layers: Layers | None = None  # None: activations are not known
    packed: int = 0  # parameters that are kept in 4 bits
    states: int = 2  # of the optimizer, for each trained parameter
    note: str = ""  # why something is not known


def know_model(catalog: Catalog, answers: Mapping[str, Value], place: Path) -> Model | str | None:
    """The model that these answers choose. None: nothing is known; a text says why.

    `memory` in the manifest of a task says it: `folder` names the setting with a pretrained model;
    otherwise it is a GPT, with the names of the settings or words of its sizes, or these sizes.
    """
    values = task_values(catalog, answers)
    said = values.get("memory")
    states = [
        x.values["states"] for x in chosen(catalog, catalog.base, answers) if "states" in x.values
    ]
    if not said or not states:
        return None
    task = answers["project.task"]
    sizes = {
        name: answers.get(f"{task}.{value}", values.get(value, value))
        for name, value in said.items()
    }
    if "folder" not in sizes:
        model = _gpt(**sizes)
    else:
        found = read_weights(str(sizes["folder"]), place)
        if isinstance(found, str):
            return found
        tokens = int(sizes.get("tokens", 0)) * int(sizes.get("rows", 1))
        known = _pretrained(found, tokens, answers)
        if isinstance(known, str):
            return known
        model = known
    momentum = answers["training.optimizer"] != "sgd" or answers["training.momentum"]
    return replace(model, states=states[0] if momentum else 0)


def _gpt(
    layers: int, width: int, tokens: int, vocabulary: int, rows: int = 1, rotary: bool = False
) -> Model:
    """The small GPT of model.py: with learned positions and one matrix for both ends, or rotary."""
    ends = 2 * vocabulary if rotary else vocabulary + tokens
    parameters = ends * width + layers * (12 * width**2 + 4 * width) + 2 * width
    # the inputs of both norms; their outputs, queries, keys, values, the attention's result, and
    # what stands before and after GELU
    half = (2 + 4 + 8 + (2 if rotary else 0)) * width
    kept = Layers(layers, width, 2 * width, half, vocabulary, tokens * rows)
    return Model(parameters, parameters, max(4 * width**2, vocabulary * width), kept)


def _pretrained(found: Weights, tokens: int, answers: Mapping[str, Value]) -> Model | str:
    config, lora = found.config, answers["features.lora.enabled"]
    kind = str(config.get("model_type", ""))
    small = bool(lora) and answers["features.lora.quantization"] == "nf4"
    if small and (kind not in LLAMAS or not tokens):
        return f"how many weights of {kind or 'this model'} are in 4 bits"
    if kind not in LLAMAS or not tokens:
        trained = 0 if lora else found.parameters
        note = f"activations are not known for {kind or 'this model'}"
        return Model(found.parameters, trained, found.largest, note=note)
    count, width, inner = (
        int(config[name]) for name in ("num_hidden_layers", "hidden_size", "intermediate_size")
    )
    heads = int(config["num_attention_heads"])
    attention = heads * int(config.get("head_dim") or width // heads)
    grouped = attention * int(config.get("num_key_value_heads") or heads) // heads
    # both norms keep their input and the normalised one; queries, keys, values, the result of the
    # attention, and what stands before and after the gate, beside it and behind it
    full, half = 4 * width, 2 * width + 4 * attention + 4 * inner
    if kind in NORMED_QUERIES:
        full += 2 * (attention + grouped)
    trained, added = found.parameters, 0
    shapes = _adapted(width, attention, grouped, inner)
    packed = count * sum(map(prod, shapes.values())) if small else 0
    if lora:  # a frozen matrix needs no inputs for its gradient, and a frozen norm less
        names = str(answers["features.lora.target_modules"]) or "q_proj,v_proj"
        names = ",".join(shapes) if names == "all-linear" else names
        wanted = [shapes[name] for name in names.split(",") if name in shapes]
        trained = added = count * int(answers["features.lora.rank"]) * sum(map(sum, wanted))
        in_mlp = "_proj" in names.replace("q_proj", "").replace("v_proj", "")
        full, half = full - 2 * width, half - (0 if in_mlp else width + inner)
    kept = Layers(count, width, full, half, int(config["vocab_size"]), tokens)
    return Model(found.parameters + added, trained, found.largest, kept, packed)


def _adapted(width: int, attention: int, grouped: int, inner: int) -> dict[str, tuple[int, int]]:
    """What goes into the matrices that LoRA can adapt, and what comes out."""
    projections = {"q_proj": (width, attention), "o_proj": (attention, width)}
    projections |= dict.fromkeys(("k_proj", "v_proj"), (width, grouped))
    mlp = dict.fromkeys(("gate_proj", "up_proj"), (width, inner))
    return projections | mlp | {"down_proj": (inner, width)}
