from inspect import signature

from data import build_loaders, build_tokenizer

#: replace export_free
FREE = (0, 1)  # dynamic dimensions of the inputs: samples and tokens

#: slot formats
"transformers": "the model and its tokenizer, for from_pretrained",

#: replace export_functions
class Logits(nn.Module):
    """The model, with only tensors as arguments and result."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> Tensor:
        types = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        return self.model(input_ids=input_ids, attention_mask=attention_mask, **types).logits


def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch."""
    batch = next(iter(build_loaders(config)[2]))
    return tuple(batch[name] for name in signature(Logits.forward).parameters if name in batch)


def export_transformers(model: nn.Module, config: Config, folder: Path) -> Program:
    model.model.save_pretrained(folder)
    build_tokenizer(config).save_pretrained(folder)
    return Logits(type(model.model).from_pretrained(folder)).eval()

#: slot copied without lora
saved, weights = config.output_dir / "transformers", shutil.ignore_patterns("*.safetensors")
shutil.copytree(saved, folder / "transformers", ignore=weights)

#: slot copied with lora
saved = config.output_dir / ("transformers" if config.lora_merge else "adapter")
weights = shutil.ignore_patterns("*.safetensors", "adapter_config.json")  # without adapters
shutil.copytree(saved, folder / "transformers", ignore=weights)

#: replace saved
save_model(model.model, folder / "model.safetensors")
return Logits(load_exported.load(folder))

#: slot exported
elif format == "transformers":
    program = export_transformers(model, config, folder)

#: slot model
model = Logits(model).eval()

#: slot batches
batches.append(tuple(values[:1, : (values.shape[1] + 1) // 2] for values in inputs))  # half a text

#: into load_exported.py
#: replace build
model = build_model(config, folder / "transformers")
