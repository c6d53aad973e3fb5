from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from data import encode
from model import END, PADDING, build_tokenizer

#: slot functions when model=transformer
def decode(tokens: Tensor) -> str:
    """The text of generated tokens, up to END."""
    known = tokens.tolist()
    known = known[: known.index(END)] if END in known else known
    return bytes(token for token in known if token < 256).decode(errors="replace")

#: slot batches when model=transformer
for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    sources = [encode(text) for text in texts]
    sources = pad_sequence(sources, batch_first=True, padding_value=PADDING).to(device)
    generated = model.generate(sources, length)
    pairs = zip(texts, map(decode, generated), strict=True)
    rows += [{"source": source, "text": text} for source, text in pairs]

#: slot arguments when model=transformer
parser.add_argument("--length", type=int, default=100, help="maximum bytes of a target")

#: slot before_batches when model=pretrained
tokenizer = build_tokenizer(config)

#: slot batches when model=pretrained
for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    sources = tokenizer.encode_sources(texts)
    sources = pad_sequence(sources, batch_first=True, padding_value=tokenizer.padding)
    written = tokenizer.decode(model.generate(sources.to(device), length))
    pairs = zip(texts, written, strict=True)
    rows += [{"source": source, "text": text} for source, text in pairs]

#: slot arguments when model=pretrained
parser.add_argument("--length", type=int, default=128, help="maximum tokens of a target")
