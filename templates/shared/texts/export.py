#: with generates
from dataclasses import replace

from model import build_model, build_tokenizer

#: slot formats when model=pretrained
"transformers": "the model and its tokenizer, for from_pretrained",

#: slot functions when model=pretrained
def export_transformers(model: nn.Module, config: Config, folder: Path) -> Program:
    tokenizer = build_tokenizer(config).tokenizer
    #: slot before_saved
    # a model that was saved during a training may say False, and generate() would be slow
    model.model.config.use_cache = model.model.generation_config.use_cache = True
    model.model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    #: slot saved
    return build_model(replace(config, model_name=str(folder))).eval()

#: slot exported when model=pretrained
elif format == "transformers":
    program = export_transformers(model, config, folder)
