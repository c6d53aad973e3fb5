from functools import partial

from model import Tokenizer, build_tokenizer

#: slot encode_pairs
def __init__(self, pairs: list[tuple[str, str]], tokenizer: Tokenizer) -> None:
    sources = tokenizer.encode_sources([source for source, _ in pairs])
    targets = tokenizer.encode_targets([target for _, target in pairs])
    start = torch.tensor([tokenizer.start])
    inputs = [torch.cat([start, target[:-1]]) for target in targets]
    self.pairs = list(zip(sources, inputs, targets, strict=True))

#: slot collate
def collate_pairs(pairs: list[list[Tensor]], padding: int) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of sources, inputs and targets, each padded to the longest."""
    sources, inputs, targets = zip(*pairs, strict=True)
    #: region padding
    return (
        pad_sequence(sources, batch_first=True, padding_value=padding),
        pad_sequence(inputs, batch_first=True, padding_value=padding),
        pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    )
    #: end padding

#: replace datasets
tokenizer = build_tokenizer(config)
return [Pairs(pairs, tokenizer) for pairs in load_pairs(config)]

#: slot after_datasets
collate = partial(collate_pairs, padding=build_tokenizer(config).padding)
