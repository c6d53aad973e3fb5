from model import build_tokenizer
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

#: slot before_batches
tokenizer = build_tokenizer(config)

#: slot batches
for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    sources = tokenizer.encode_sources(texts)
    sources = pad_sequence(sources, batch_first=True, padding_value=tokenizer.padding)
    written = tokenizer.decode(model.generate(sources.to(device), length))
    pairs = zip(texts, written, strict=True)
    rows += [{"source": source, "text": text} for source, text in pairs]

#: slot arguments
parser.add_argument("--length", type=int, default=128, help="maximum tokens of a target")
