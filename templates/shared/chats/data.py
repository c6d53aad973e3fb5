#: when project.task=sft|dpo
import re

from jinja2 import TemplateError

from metrics import IGNORED
from model import build_tokenizer

#: slot show
def show(sample: Sample, config) -> str:
    """A sample up to the last token that counts, with [[ and ]] around those that count."""
    decode, text, counted = build_tokenizer(config).show, "", False
    inputs, targets = sample[0].tolist(), sample[-1].tolist()
    run = inputs[:1]
    for token, target in zip([*inputs[1:], IGNORED], targets, strict=True):
        if (target != IGNORED) != counted:
            text += decode(run) + ("]]" if counted else "[[")
            run, counted = [], not counted
        run.append(target if counted else token)
        if counted and token != target:  # the last token of a text is no input
            text += decode(run) + "]]"
            run, counted = [token], False
    return text + decode([token for token in run if token != IGNORED])

#: slot encode when model=pretrained
{% raw %}
# for a tokenizer without a chat template; {% generation %} marks the tokens that count
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message.role }}|>{{ '\n' }}"
    "{% if message.role == 'assistant' %}"
    "{% generation %}{{ message.content + eos_token }}{% endgeneration %}"
    "{% else %}{{ message.content + eos_token }}{% endif %}{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{{ '\n' }}{% endif %}"
)
MARK = re.compile(r"{%-?\s*generation\s*-?%}")  # in templates that mark the answers
PLACE = "\ue000"  # a placeholder for an answer: no text has this character
{% endraw %}

def load_tokenizer(config):
    """The tokenizer of the model, with its own chat template, or with CHAT_TEMPLATE."""
    tokenizer = build_tokenizer(config).tokenizer
    tokenizer.chat_template = tokenizer.chat_template or CHAT_TEMPLATE
    return tokenizer


def encode_chat(messages: Messages, config) -> tuple[list[int], list[bool]]:
    """The tokens of a conversation, and whether each is part of an answer.

    The chat template writes the whole text, so the tokenizer adds no special tokens. Raises
    ValueError for messages that the template can't write.
    """
    tokenizer = load_tokenizer(config)
    try:
        if MARK.search(tokenizer.chat_template):
            settings = {"return_dict": True, "return_assistant_tokens_mask": True}
            encoded = tokenizer.apply_chat_template(messages, **settings)
            return encoded["input_ids"], [count == 1 for count in encoded["assistant_masks"]]
        text = tokenizer.apply_chat_template(messages, tokenize=False)
        spans = find_answers(messages, text, tokenizer)
    except TemplateError as error:
        raise ValueError(f"the chat template refuses it: {error}") from error
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    counts = [
        any(start < last and first < end for start, end in spans)
        for first, last in encoded["offset_mapping"]
    ]
    return encoded["input_ids"], counts


def find_answers(messages: Messages, text: str, tokenizer) -> list[tuple[int, int]]:
    """Where each answer begins and ends in the text of a conversation, in characters.

    It begins where the prompt ends, and includes what the template writes after it, such as the end
    of a turn, but not trailing whitespace: the model stops there.
    """
    write, spans = tokenizer.apply_chat_template, []
    for number, message in enumerate(messages):
        if message["role"] == "assistant":
            before = messages[:number]
            around = write([*before, {**message, "content": PLACE}], tokenize=False)
            prompt, _, closing = around.rpartition(PLACE)
            if before:  # what a template writes in an answer, such as <think>, is not in a prompt
                prompt = write(before, tokenize=False, add_generation_prompt=True)
            content, closing = message["content"].strip(), closing.rstrip()
            if not content + closing:
                raise ValueError(f"message {number + 1} is empty.")
            # some templates write the white space at the end of an answer, and some do not
            answer = re.compile(re.escape(content) + r"\s*?" + re.escape(closing))
            found = answer.search(text, len(prompt))
            if not text.startswith(prompt) or not found:
                raise ValueError(
                    f"the chat template writes message {number + 1} in several ways. Mark the "
                    "answers in the template with generation and endgeneration."
                )
            spans.append((len(prompt), found.end()))
    return spans


#: region prompts when project.loop=complete
def encode_prompt(messages: Messages, config) -> list[int]:
    """The tokens of a conversation up to where an answer begins. Raises ValueError as above."""
    settings = {"add_generation_prompt": True, "return_dict": False}
    try:
        return load_tokenizer(config).apply_chat_template(messages, **settings)
    except TemplateError as error:
        raise ValueError(f"the chat template refuses it: {error}") from error


def find_ends(config) -> set[int]:
    """The tokens that end an answer: end of text, and the last special token of an answer."""
    tokenizer = load_tokenizer(config)
    example = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    try:
        tokens, counts = encode_chat(example, config)
    except ValueError as error:
        raise SystemExit(f"{config.model_name}: {error}") from error
    answer = [token for token, count in zip(tokens, counts, strict=True) if count]
    special = [token for token in answer if token in tokenizer.all_special_ids]
    return {tokenizer.eos_token_id, *special[-1:]}
#: end prompts

#: slot encode when model=gpt
def encode_chat(messages: Messages, config) -> tuple[list[int], list[bool]]:
    """The tokens of a conversation, and whether each is part of an answer.

    A message is the token of its role, its text and the token of its end. The end of an answer
    counts: the model learns where to stop. Raises ValueError for an unknown role.
    """
    tokenizer = build_tokenizer(config)
    tokens: list[int] = []
    counts: list[bool] = []
    for message in messages:
        role = message["role"]
        if role not in tokenizer.roles:
            raise ValueError(f"the role {role} is not one of {', '.join(tokenizer.roles)}.")
        text = [*tokenizer.encode(message["content"]), tokenizer.end]
        tokens += [tokenizer.roles[role], *text]
        counts += [False, *[role == "assistant"] * len(text)]
    return tokens, counts


#: region prompts when project.loop=complete
def encode_prompt(messages: Messages, config) -> list[int]:
    """The tokens of a conversation up to where an answer begins."""
    return [*encode_chat(messages, config)[0], build_tokenizer(config).roles["assistant"]]


def find_ends(config) -> set[int]:
    """The tokens that end an answer."""
    return {build_tokenizer(config).end}
#: end prompts
