from data import surround

#: slot functions
GAP = "<middle>"  # where the model fills in a text


def encode_prompt(prompt: str, tokenizer, context: int) -> list[int]:
    """The tokens of a prompt: a text, or the text around its gap."""
    prefix, gap, suffix = prompt.partition(GAP)
    if not gap:
        return [tokenizer.end, *tokenizer.encode(prompt)]
    tokens = surround(tokenizer.encode(prefix), tokenizer.encode(suffix), tokenizer)
    if len(tokens) >= context:
        raise SystemExit(
            f"The text around {GAP} has {len(tokens)} tokens; the model sees {context}: shorten it."
        )
    return tokens

#: replace starts
starts = [encode_prompt(prompt, tokenizer, config.context) for prompt in prompts]

#: replace written
if GAP in prompt:
    # later tokens did not see all of the text around them
    middle = tokenizer.decode(tokens[: config.context - len(start)])
    rows.append({"prompt": prompt, "text": prompt.replace(GAP, middle, 1)})
else:
    rows.append({"prompt": prompt, "text": tokenizer.decode([*start[1:], *tokens])})
