#: when project.task=sft|dpo
import json
from pathlib import Path

from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from data import encode_prompt, find_ends, read_messages
from model import build_tokenizer

#: slot files
elif name.endswith(".jsonl"):  # an object with `messages` or a `prompt` in each line
    lines = split_lines(Path(name).read_text(encoding="utf-8-sig"))
    for number, line in enumerate(lines, start=1):
        if line.strip():
            texts.append(read_prompt(line, f"{name}, line {number}"))

#: slot functions
def read_prompt(line: str, place: str) -> str | list[dict]:
    """The `prompt` of a JSON object, or its `messages` without an answer at their end."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise SystemExit(f"{place} is not JSON: {error}") from error
    if not isinstance(row, dict):
        raise SystemExit(f"{place} is not a JSON object.")
    if isinstance(row.get("prompt"), str):
        return row["prompt"]
    messages = read_messages(row, place)
    is_answered = len(messages) > 1 and messages[-1]["role"] == "assistant"
    return messages[:-1] if is_answered else messages


def write_prompt(config: Config, prompt: str | list[dict]) -> list[int]:
    """The tokens of a question, or of the messages of a conversation, before the answer."""
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    try:
        tokens = encode_prompt(messages, config)
    except ValueError as error:
        raise SystemExit(f"{messages[-1]['content']}: {error}") from error
    if len(tokens) >= config.context:
        raise SystemExit(
            f"A prompt has {len(tokens)} tokens, and --context was {config.context} in training: "
            "shorten it, or train with a larger --context."
        )
    return tokens

#: slot before_batches
tokenizer = build_tokenizer(config)

#: slot batches
for chats in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    prompts = [write_prompt(config, chat) for chat in chats]
    answers = generate(model, prompts, find_ends(config), config.context, length, device)
    for chat, answer in zip(chats, answers, strict=True):
        prompt = chat if isinstance(chat, str) else chat[-1]["content"]
        rows.append({"prompt": prompt, "text": tokenizer.decode(answer)})

#: slot functions when model=pretrained
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
