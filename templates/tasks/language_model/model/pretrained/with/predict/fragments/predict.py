from transformers import LogitsProcessor

#: slot functions
class Draw(LogitsProcessor):
    """Leaves one token of each text, drawn with the text's own random numbers."""

    def __init__(self, generators: list[torch.Generator]) -> None:
        self.generators = generators

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        tokens = torch.stack(draw(scores, self.generators)).to(scores.device)
        return torch.full_like(scores, -torch.inf).scatter(1, tokens, 0.0)


def extend(model, texts: list[Tensor], generators, end: int, count: int, device) -> list[Tensor]:
    """Extend each text by `count` tokens, with a cache, so that no token is read twice."""
    #: slot attention
    longest = max(map(len, texts))
    pad = {"batch_first": True, "padding_side": "left"}  # all texts are extended in one column
    rows = model.model.generate(
        pad_sequence(texts, **pad).to(device),
        attention_mask=pad_sequence([torch.ones_like(text) for text in texts], **pad).to(device),
        max_new_tokens=count,
        do_sample=False,  # what is left is one token
        logits_processor=[Draw(generators)],
        num_beams=1,
        repetition_penalty=1.0,
        eos_token_id=end,
        pad_token_id=end,
        use_cache=True,
    )
    pairs = zip(texts, rows[:, longest:].cpu(), strict=True)
    return [torch.cat(pair) for pair in pairs]

#: slot cached
fitting = min(length, context - max(map(len, texts)))
if fitting > 0:  # a text longer than the context loses its first token in each step
    texts = extend(model, texts, generators, end, fitting, device)
    length -= fitting
