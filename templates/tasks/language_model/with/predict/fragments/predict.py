from model import build_tokenizer
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

#: slot functions
def generate(model: torch.nn.Module, texts: list[Tensor], context: int, length: int, device):
    """Extend each text by `length` tokens, independently of the other texts."""
    generators = [torch.Generator().manual_seed(0) for _ in texts]
    for _ in range(length):
        windows = [text[-context:] for text in texts]
        inputs = pad_sequence(windows, batch_first=True).to(device)  # no token sees a later one
        logits = model(inputs)
        for row, window in enumerate(windows):
            probs = logits[row, len(window) - 1].float().softmax(dim=-1).cpu()
            token = torch.multinomial(probs, 1, generator=generators[row])
            texts[row] = torch.cat([texts[row], token])
    return texts

#: slot before_batches
tokenizer = build_tokenizer(config)

#: slot batches
for prompts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    #: region starts
    starts = [[tokenizer.end, *tokenizer.encode(prompt)] for prompt in prompts]
    #: end starts
    texts = [torch.tensor(start) for start in starts]
    texts = generate(model, texts, config.context, length, device)
    for prompt, start, text in zip(prompts, starts, texts, strict=True):
        tokens = [*text[len(start) :].tolist(), tokenizer.end]
        tokens = tokens[: tokens.index(tokenizer.end)]  # up to the end of the document
        #: region written
        rows.append({"prompt": prompt, "text": tokenizer.decode([*start[1:], *tokens])})
        #: end written

#: slot arguments
parser.add_argument("--length", type=int, default=200, help="how many tokens to generate")
