from model import END, PADDING, START

#: slot encode_pairs
def __init__(self, pairs: list[tuple[str, str]]) -> None:
    self.pairs = [[encode(text) for text in pair] for pair in pairs]

#: slot collate
def encode(text: str) -> Tensor:
    """The bytes of a text, and END."""
    return torch.tensor([*text.encode(), END])


def collate(pairs: list[list[Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of sources, inputs and targets, each padded to the longest."""
    sources, targets = zip(*pairs, strict=True)
    start = torch.tensor([START])
    inputs = [torch.cat([start, target[:-1]]) for target in targets]
    #: region padding
    return (
        pad_sequence(sources, batch_first=True, padding_value=PADDING),
        pad_sequence(inputs, batch_first=True, padding_value=PADDING),
        pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    )
    #: end padding
