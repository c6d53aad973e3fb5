from dataclasses import replace

#: slot datasets
class MiddleLast(Dataset):
    """Training blocks, a fraction `middle_rate` of which is rearranged: the middle comes last.

    Which ones, and where they are cut, depends only on the seed, the epoch and the index of the
    block, so it is the same in a resumed run, with any number of data workers, and on any number
    of processes.
    """

    def __init__(self, blocks: Dataset, config) -> None:
        self.blocks, self.config, self.epoch = blocks, config, 0
        self.tokenizer = build_tokenizer(config)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, index: int) -> Tensor:
        block, seed = self.blocks[index], hash((self.config.seed, self.epoch, index))
        generator = torch.Generator().manual_seed(seed)
        if torch.rand((), generator=generator) >= self.config.middle_rate:
            return block
        return put_middle_last(block, self.tokenizer, generator)


def put_middle_last(block: Tensor, tokenizer, generator: torch.Generator) -> Tensor:
    """A block that is cut at two random places, with the middle moved to the end.

    The token that ends a document comes after the middle, whether the block ended one or not:
    a model has to know where a middle ends.
    """
    text = block[1:].tolist()
    if text[-1] == tokenizer.end:
        text = text[:-1]
    cuts = torch.randint(len(text) + 1, (2,), generator=generator).tolist()
    start, end = min(cuts), max(cuts)
    around = surround(text[:start], text[end:], tokenizer)
    return block.new_tensor([*around, *text[start:end], tokenizer.end])


def surround(prefix: list[int], suffix: list[int], tokenizer) -> list[int]:
    """What comes before a middle: its prefix and suffix, and the tokens that mark the parts."""
    #: region order_of_parts
    # prefix, suffix, middle (PSM): Bavarian et al. 2022, https://arxiv.org/abs/2207.14255
    marked = [tokenizer.prefix, *prefix, tokenizer.suffix, *suffix, tokenizer.middle]
    #: end order_of_parts
    return [tokenizer.end, *marked]

#: slot after_datasets
train_set = MiddleLast(train_set, config)

#: replace build_datasets
def build_datasets(config) -> list[Dataset]:
    """Blocks of the training, validation and test documents.

    Those for training leave room for the four tokens around a middle.
    """
    if config.context < 8:
        raise SystemExit(f"--context {config.context} is too short to fill in a middle: use 8.")
    training, *others = read_documents(config)
    train_set = Blocks(training, replace(config, context=config.context - 4))
    return [train_set, *(Blocks(documents, config) for documents in others)]
