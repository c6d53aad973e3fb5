#: when project.task=sft|dpo
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from data import encode_prompt, find_ends
from lib.conversations import Conversation, Messages, add_system, read_extras, read_turns
from lib.json_lines import holds_objects, read_objects
from lib.notes import rename_keys
from model import build_tokenizer

#: slot files
elif holds_objects(name):  # rows with `messages` or a `prompt`
    #: region questions
    texts += [read_prompt(row, place) for place, row in read_objects(name)]
    #: end questions

#: replace questions when dataset=jsonl|huggingface
renamed = rename_keys(list(read_objects(name)), config.rename, required=False)
texts += [read_prompt(row, place) for place, row in renamed]

#: slot functions
def read_prompt(row: dict, place: str) -> str | Messages | Conversation:
    """The `prompt` of a row, or its messages without an answer at their end."""
    settings, prompt = read_extras(row, place), row.get("prompt")
    if isinstance(prompt, str) and not settings and not row.get("system"):
        return prompt
    if prompt and "messages" not in row:
        messages = add_system(read_turns([prompt], place), row, place)
    else:
        messages = read_messages(row, place)
        if len(messages) > 1 and messages[-1]["role"] == "assistant":
            messages = messages[:-1]
    return Conversation(messages, place, settings) if settings else messages


def find_messages(prompt: str | Messages | Conversation) -> Messages:
    prompt = prompt.messages if isinstance(prompt, Conversation) else prompt
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt


def write_prompt(config: Config, prompt: str | Messages | Conversation) -> list[int]:
    """The tokens of a question, or of the messages of a conversation, before the answer."""
    messages = find_messages(prompt)
    settings = prompt.settings if isinstance(prompt, Conversation) else {}
    try:
        tokens = encode_prompt(messages, config, settings)
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
        asked = find_messages(chat)[-1]["content"]
        rows.append({"prompt": asked, "text": tokenizer.decode(answer)})

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
