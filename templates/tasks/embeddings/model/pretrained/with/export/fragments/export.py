import json
from copy import deepcopy

from data import build_tokenizer

#: slot formats
"transformers": "the model and its tokenizer, for from_pretrained and sentence-transformers",

#: slot functions
def export_transformers(model: nn.Module, config: Config, folder: Path) -> Program:
    """Files beside the model tell sentence-transformers how its states become a vector."""
    model.model.save_pretrained(folder)
    build_tokenizer(config).save_pretrained(folder)
    kinds, modules = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}, []
    for path, kind in kinds.items():
        (folder / path).mkdir(exist_ok=True)
        kind = f"sentence_transformers.models.{kind}"
        modules.append({"idx": len(modules), "name": str(len(modules)), "path": path, "type": kind})
    pooling = {
        "word_embedding_dimension": model.model.config.hidden_size,
        "pooling_mode_mean_tokens": True,
    }
    lengths = {"max_seq_length": config.max_length}
    texts = {"modules.json": modules, "1_Pooling/config.json": pooling}
    texts["sentence_bert_config.json"] = lengths
    for name, values in texts.items():
        (folder / name).write_text(json.dumps(values, indent=2))
    loaded = deepcopy(model)
    loaded.model = type(model.model).from_pretrained(folder).eval()
    loaded.model.pooler = None
    return loaded

#: slot exported
elif format == "transformers":
    program = export_transformers(model, config, folder)
