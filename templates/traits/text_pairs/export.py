import json

#: slot functions when model=pretrained
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

#: slot saved when model=pretrained
write_modules(model, config, folder)
