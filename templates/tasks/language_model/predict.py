from collections.abc import Sequence

from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from transformers import LogitsProcessor

from data import surround
from model import build_tokenizer

#: slot functions
def draw(logits: Tensor, generators: list[torch.Generator]) -> list[Tensor]:
    """A token for each text, with the text's own random numbers."""
    rows = logits.float().softmax(dim=-1).cpu()
    pairs = zip(rows, generators, strict=True)
    return [torch.multinomial(row, 1, generator=generator) for row, generator in pairs]


def generate(
    model, texts: list[list[int]], end: int, context: int, length: int, device, bos: Sequence[int] = ()
):
    """Extend each text by up to `length` tokens, independently of the other texts.

    The model sees the last `context` tokens, the first of which are `bos`.
    It stops when all texts have reached the end of a document. What follows an end has no meaning.
    """
    starts, texts = texts, [torch.tensor(text) for text in texts]
    generators = [torch.Generator().manual_seed(0) for _ in texts]
    #: slot cached
    for _ in range(length):
        if all(end in text[len(start) :] for start, text in zip(starts, texts, strict=True)):
            break
        windows = [torch.tensor([*bos, *text[-context:][len(bos) :].tolist()]) for text in texts]
        inputs = pad_sequence(windows, batch_first=True).to(device)  # no token sees a later one
        lasts = [len(window) - 1 for window in windows]
        logits = model(inputs)[range(len(lasts)), lasts]
        pairs = zip(texts, draw(logits, generators), strict=True)
        texts = [torch.cat(pair) for pair in pairs]
    return texts

#: slot before_batches
tokenizer = build_tokenizer(config)

#: slot batches
for prompts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    #: region starts
    starts = [[*tokenizer.start, *tokenizer.encode(prompt)] for prompt in prompts]
    #: end starts
    texts = generate(
        model, starts, tokenizer.end, config.context, length, device, tokenizer.bos
    )
    for prompt, start, text in zip(prompts, starts, texts, strict=True):
        tokens = [*text[len(start) :].tolist(), tokenizer.end]
        tokens = tokens[: tokens.index(tokenizer.end)]  # up to the end of the document
        #: region written
        rows.append({"prompt": prompt, "text": tokenizer.decode([*start[1:], *tokens])})
        #: end written

#: slot arguments
parser.add_argument("--length", type=int, default=200, help="how many tokens to generate")

#: slot functions when model=pretrained
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

#: slot cached when model=pretrained
fitting = min(length, context - max(map(len, texts)))
if fitting > 0:  # a text longer than the context loses its first token in each step
    texts = extend(model, texts, generators, end, fitting, device)
    length -= fitting

#: slot attention when model=pretrained with context_parallel
model.model.set_attn_implementation("sdpa")  # "causal" has no mask, which padding needs

#: slot functions when fill_in_middle=psm|spm
GAP = "<middle>"  # where the model fills in a text


def encode_prompt(prompt: str, tokenizer, context: int) -> list[int]:
    """The tokens of a prompt: a text, or the text around its gap."""
    prefix, gap, suffix = prompt.partition(GAP)
    if not gap:
        return [*tokenizer.start, *tokenizer.encode(prompt)]
    tokens = surround(tokenizer.encode(prefix), tokenizer.encode(suffix), tokenizer)
    if len(tokens) >= context:
        raise SystemExit(
            f"The text around {GAP} has {len(tokens)} tokens; the model sees {context}: shorten it."
        )
    return tokens

#: replace starts when fill_in_middle=psm|spm
starts = [encode_prompt(prompt, tokenizer, config.context) for prompt in prompts]

#: replace written when fill_in_middle=psm|spm
if GAP in prompt:
    # later tokens did not see all of the text around them
    middle = tokenizer.decode(tokens[: config.context - len(start)])
    rows.append({"prompt": prompt, "text": prompt.replace(GAP, middle, 1)})
else:
    rows.append({"prompt": prompt, "text": tokenizer.decode([*start[1:], *tokens])})
