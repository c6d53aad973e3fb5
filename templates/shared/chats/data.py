#: when project.task=sft|dpo|reward_model
import json
import re

from jinja2 import TemplateError

from lib.conversations import Messages, check_keys
from lib.ends import find_end
from metrics import IGNORED
from model import build_tokenizer

#: slot show with generates
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
{% endraw %}

def load_tokenizer(config):
    """The tokenizer of the model, with its own chat template, or with CHAT_TEMPLATE."""
    tokenizer = build_tokenizer(config).tokenizer
    tokenizer.chat_template = tokenizer.chat_template or CHAT_TEMPLATE
    return tokenizer


def find_template(tokenizer, settings: dict) -> str:
    """The chat template: some tokenizers have one more for tools."""
    try:
        return tokenizer.get_chat_template(tools=settings.get("tools"))
    except ValueError as error:
        raise ValueError(f"its chat template can't be chosen: {error}") from error


def spell(messages: Messages, tokenizer, settings: dict) -> tuple[Messages, str]:
    """The messages as the chat template can write them, and the text.

    For calls of tools, templates differ in whether they take arguments as objects or as text, and
    contents as null or empty. Raises ValueError if the template leaves something out.
    """
    check_keys(messages, settings, find_template(tokenizer, settings))
    found, reason = [], None
    for read, empty in ((json.loads, None), (json.loads, ""), (None, None), (None, "")):
        spelled = [spell_message(message, read, empty) for message in messages]
        try:
            write = tokenizer.apply_chat_template
            found.append((spelled, write(spelled, tokenize=False, **settings)))
        except (TemplateError, TypeError, ValueError) as error:
            reason = reason or error
        if not any("tool_calls" in message for message in messages):
            break
    if not found:
        raise ValueError(f"the chat template refuses it: {reason}") from reason
    spelled, text = min(found, key=lambda pair: pair[1].count("None"))  # a null may be written
    for number, message in enumerate(messages, start=1):
        names = [call["function"]["name"] for call in message.get("tool_calls", [])]
        if message["role"] in ("system", "developer", "user"):
            names.append(message["content"].strip())
        if not all(name in text for name in names):
            raise ValueError(f"the chat template leaves out message {number}, {message['role']}.")
    return spelled, text


def spell_message(message: dict, read, empty: str | None) -> dict:
    """A message, with its arguments read by `read` if they are text, and `empty` for no content."""
    if "tool_calls" not in message:
        return message
    calls = []
    for call in message["tool_calls"]:
        function = call["function"]
        if read and isinstance(function.get("arguments"), str):
            function = {**function, "arguments": read(function["arguments"])}
        calls.append({**call, "function": function})
    return {**message, "content": message["content"] or empty, "tool_calls": calls}


#: slot encode when model=pretrained with generates
{% raw %}
MARK = re.compile(r"{%-?\s*generation\s*-?%}")  # in templates that mark the answers
PLACE = "\ue000"  # a placeholder for an answer: no text has this character
{% endraw %}

def encode_chat(
    messages: Messages, config, settings: dict | None = None
) -> tuple[list[int], list[bool]]:
    """The tokens of a conversation, and whether each is part of an answer.

    The chat template writes the whole text, so the tokenizer adds no special tokens. `settings` are
    for the template, such as `tools`. An answer with a weight of 0 does not count. Raises
    ValueError for messages that the template can't write.
    """
    tokenizer, settings = load_tokenizer(config), settings or {}
    messages, text = spell(messages, tokenizer, settings)
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    if MARK.search(find_template(tokenizer, settings)):
        wanted = {"return_dict": True, "return_assistant_tokens_mask": True}
        marked = tokenizer.apply_chat_template(messages, **settings, **wanted)
        counts = [count == 1 for count in marked["assistant_masks"]]
        return marked["input_ids"], drop_unweighted(counts, messages)
    spans = find_answers(messages, text, tokenizer, settings)
    counts = [
        any(start < last and first < end for start, end in spans)
        for first, last in encoded["offset_mapping"]
    ]
    return encoded["input_ids"], counts


def find_answers(messages: Messages, text: str, tokenizer, settings: dict) -> list[tuple[int, int]]:
    """Where each answer begins and ends in the text of a conversation, in characters.

    It begins where the prompt ends, and includes what the template writes after it, such as the end
    of a turn, but not trailing whitespace: the model stops there.
    """

    def write(messages: Messages, **more) -> str:
        try:
            return tokenizer.apply_chat_template(messages, tokenize=False, **settings, **more)
        except (TemplateError, TypeError) as error:
            raise ValueError(f"the chat template refuses a part of it: {error}") from error

    spans = []
    for number, message in enumerate(messages):
        if message["role"] != "assistant" or message.get("weight") == 0:
            continue
        before = messages[:number]
        around = write([*before, {**message, "content": PLACE}])
        prompt, _, closing = around.rpartition(PLACE)
        if before:  # what a template writes in an answer, such as <think>, is not in a prompt
            prompt = write(before, add_generation_prompt=True)
        content, closing = (message["content"] or "").strip(), closing.rstrip()
        if "tool_calls" in message and not content:
            closing = closing.lstrip()
        if not content + closing:
            raise ValueError(f"message {number + 1} is empty.")
        # some templates write the white space at the end of an answer, and some do not
        answer = re.compile(re.escape(content) + r"\s*?" + re.escape(closing))
        found = answer.search(text, len(prompt))
        whole = number == len(messages) - 1 and ("</think>" in content or "tool_calls" in message)
        if text.startswith(prompt) and (found or whole):
            spans.append((len(prompt), found.end() if found else len(text.rstrip())))
        else:
            raise ValueError(
                f"the chat template writes message {number + 1} in several ways. Mark the "
                "answers in the template with generation and endgeneration."
            )
    return spans


def drop_unweighted(counts: list[bool], messages: Messages) -> list[bool]:
    """Which tokens count, without answers that have a weight of 0."""
    answers = [message for message in messages if message["role"] == "assistant"]
    starts = [a and not b for a, b in zip(counts, [False, *counts], strict=False)]
    if any(message.get("weight") == 0 for message in answers):
        if sum(starts) != len(answers):
            raise ValueError("the chat template does not mark each answer: weights can't be used.")
        numbers = torch.tensor(starts).cumsum(0).tolist()  # of the answer up to each token
        weights = [1, *(message.get("weight", 1) for message in answers)]
        return [c and weights[n] == 1 for c, n in zip(counts, numbers, strict=True)]
    return counts


#: region prompts when project.loop=complete
def encode_prompt(messages: Messages, config, settings: dict | None = None) -> list[int]:
    """The tokens of a conversation up to where an answer begins. Raises ValueError as above."""
    tokenizer, settings = load_tokenizer(config), settings or {}
    messages, _ = spell(messages, tokenizer, settings)
    wanted = {"add_generation_prompt": True, "return_dict": False}
    return tokenizer.apply_chat_template(messages, **settings, **wanted)


def find_ends(config) -> set[int]:
    """The tokens that end an answer: end of text, and the one after the answers of the template."""
    tokenizer = load_tokenizer(config)
    example = [{"role": "user", "content": "a"}, {"role": "assistant", "content": PLACE}]
    try:
        _, text = spell(example, tokenizer, {})
    except ValueError as error:
        raise SystemExit(f"{config.model_name}: {error}") from error
    end = find_end(tokenizer, text.rpartition(PLACE)[2])
    if end is None:
        raise SystemExit(
            f"The chat template of {config.model_name} writes no token that ends an answer, so the "
            "model would not learn to stop. Write eos_token after each answer in the template, "
            "and save the tokenizer and the model to a folder."
        )
    return {tokenizer.eos_token_id, end}
#: end prompts

#: slot encode when model=gpt with generates
def encode_chat(
    messages: Messages, config, settings: dict | None = None
) -> tuple[list[int], list[bool]]:
    """The tokens of a conversation, and whether each is part of an answer.

    A message is the token of its role, its text and the token of its end. The end of an answer
    counts: the model learns where to stop. An answer with a weight of 0 does not count. Raises
    ValueError for an unknown role, and for tools.
    """
    check_keys(messages, settings or {}, template="")
    tokenizer = build_tokenizer(config)
    tokens: list[int] = []
    counts: list[bool] = []
    for message in messages:
        role = message["role"]
        if role not in tokenizer.roles:
            raise ValueError(f"the role {role} is not one of {', '.join(tokenizer.roles)}.")
        text = [*tokenizer.encode(message["content"]), tokenizer.end]
        tokens += [tokenizer.roles[role], *text]
        counted = role == "assistant" and message.get("weight") != 0
        counts += [False, *[counted] * len(text)]
    return tokens, counts


#: region prompts when project.loop=complete
def encode_prompt(messages: Messages, config, settings: dict | None = None) -> list[int]:
    """The tokens of a conversation up to where an answer begins. Raises ValueError as above."""
    return [*encode_chat(messages, config, settings)[0], build_tokenizer(config).roles["assistant"]]


def find_ends(config) -> set[int]:
    """The tokens that end an answer."""
    return {build_tokenizer(config).end}
#: end prompts
