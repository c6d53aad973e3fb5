#: into limits.py at checks
"""Checks that a pretrained model has an embedding for each token and each position."""

from torch import nn


def check_limits(model: nn.Module, tokens: int, length: int, flag: str) -> None:
    """Stop if the model has fewer than `tokens` embeddings, or fewer than `length` positions."""
    config = model.config.get_text_config()
    embeddings = getattr(config, "vocab_size", tokens)
    if tokens > embeddings:
        raise SystemExit(
            f"The tokenizer has {tokens} tokens, but the model has {embeddings} embeddings: load "
            "both, call model.resize_token_embeddings(len(tokenizer)), and save both to a folder."
        )
    positions = getattr(config, "max_position_embeddings", None) or 0
    if positions > 0 and length > (most := find_positions(model, positions)):  # XLNet has -1: any
        raise SystemExit(f"The model takes at most {most} tokens: lower {flag}.")


def find_positions(model: nn.Module, positions: int) -> int:
    """The maximum number of tokens: in models like RoBERTa less than the number of positions."""
    for module in model.modules():
        if isinstance(module, nn.Embedding) and module.num_embeddings == positions:
            padding = module.padding_idx  # the first position comes after that of the padding
            return positions if padding is None else positions - 1 - padding
    return positions
