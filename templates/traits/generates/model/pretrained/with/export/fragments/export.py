from model import build_tokenizer

#: slot formats
"transformers": "the model and its tokenizer, for from_pretrained",

#: slot functions
def export_transformers(model: nn.Module, config: Config, folder: Path) -> Program:
    model.model.save_pretrained(folder)
    build_tokenizer(config).tokenizer.save_pretrained(folder)
    loaded = type(model.model).from_pretrained(folder).eval()
    return lambda tokens: loaded(input_ids=tokens).logits

#: slot exported
elif format == "transformers":
    program = export_transformers(model, config, folder)
