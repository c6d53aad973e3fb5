from model import build_tokenizer
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

#: slot functions
def draw(logits: Tensor, generators: list[torch.Generator]) -> list[Tensor]:
    """A token for each text, with the text's own random numbers."""
    rows = logits.float().softmax(dim=-1).cpu()
    pairs = zip(rows, generators, strict=True)
    return [torch.multinomial(row, 1, generator=generator) for row, generator in pairs]


def generate(model, texts: list[list[int]], end: int, context: int, length: int, device):
    """Extend each text by up to `length` tokens, independently of the other texts.

    It stops when all texts have reached the end of a document. What follows an end has no meaning.
    """
    starts, texts = texts, [torch.tensor(text) for text in texts]
    generators = [torch.Generator().manual_seed(0) for _ in texts]
    #: slot cached
    for _ in range(length):
        if all(end in text[len(start) :] for start, text in zip(starts, texts, strict=True)):
            break
        windows = [text[-context:] for text in texts]
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
    starts = [[tokenizer.end, *tokenizer.encode(prompt)] for prompt in prompts]
    #: end starts
    texts = generate(model, starts, tokenizer.end, config.context, length, device)
    for prompt, start, text in zip(prompts, starts, texts, strict=True):
        tokens = [*text[len(start) :].tolist(), tokenizer.end]
        tokens = tokens[: tokens.index(tokenizer.end)]  # up to the end of the document
        #: region written
        rows.append({"prompt": prompt, "text": tokenizer.decode([*start[1:], *tokens])})
        #: end written

#: slot arguments
parser.add_argument("--length", type=int, default=200, help="how many tokens to generate")
