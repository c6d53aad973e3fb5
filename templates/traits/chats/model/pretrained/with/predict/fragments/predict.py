from torch.nn.utils.rnn import pad_sequence

#: slot functions
def generate(model, prompts: list[list[int]], ends: set[int], context: int, length: int, device):
    """The same as in generation.py, but faster: with a cache, for a model on one device."""
    texts = [torch.tensor(prompt) for prompt in prompts]
    shortest, longest = min(map(len, texts)), max(map(len, texts))
    pad = {"batch_first": True, "padding_side": "left"}  # all answers begin in the same column
    rows = model.model.generate(
        pad_sequence(texts, **pad).to(device),
        attention_mask=pad_sequence([torch.ones_like(text) for text in texts], **pad).to(device),
        max_new_tokens=max(1, min(length, context - shortest)),
        do_sample=False,
        num_beams=1,
        repetition_penalty=1.0,
        eos_token_id=sorted(ends),
        pad_token_id=min(ends),
        use_cache=True,
    )
    answers = []
    for text, row in zip(texts, rows[:, longest:].tolist(), strict=True):
        answer = row[: min(length, context - len(text))]
        end = next((place for place, token in enumerate(answer) if token in ends), None)
        answers.append(answer[:end])
    return answers
