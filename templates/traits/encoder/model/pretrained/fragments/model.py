#: slot functions
#: region limit
def find_limit(model: nn.Module, tokens: int) -> int:
    """The maximum number of tokens of a model, at most this number."""
    for module in model.modules():
        if isinstance(module, nn.Embedding) and module.num_embeddings == tokens:
            # RoBERTa's first position is that after its padding
            return tokens - 1 - module.padding_idx if module.padding_idx is not None else tokens
    return tokens
#: end limit
