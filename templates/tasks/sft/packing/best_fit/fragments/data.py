from bisect import bisect_left, insort

#: replace sample
self.samples.append((inputs, torch.arange(len(inputs)), targets))

#: replace collate
def collate(samples: list[Sample]) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of inputs, positions and targets, padded to the longest sample.

    Each text has its own positions. A position of 0 begins a text, so padding is a text by itself.
    """
    inputs, positions, targets = zip(*samples, strict=True)
    return pad(inputs, 0), pad(positions, 0), pad(targets, IGNORED)


#: slot datasets
class Packed(Dataset):
    """Rows of whole samples, one after the other, of up to `context` tokens.

    Best fit: sort by length, longest first, and put each sample into the fullest row it fits in.
    """

    def __init__(self, samples: Dataset, config) -> None:
        self.samples, self.rows = samples, []
        lengths = [len(samples[index][0]) for index in range(len(samples))]
        rooms: list[tuple[int, int]] = []  # (free tokens, row), sorted by free tokens
        for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
            found = bisect_left(rooms, (lengths[index], 0))
            if found == len(rooms):
                rooms.append((config.context, len(self.rows)))
                self.rows.append([])
            room, row = rooms.pop(found)
            self.rows[row].append(index)
            insort(rooms, (room - lengths[index], row))
        packed = [sum(lengths[index] for index in row) for row in self.rows]
        counts = [count_padding(texts, config.batch_size) for texts in (packed, lengths)]
        log(
            f"{len(lengths)} conversations are packed into {len(packed)} rows. "
            f"{counts[0]} tokens are padding; without packing, about {counts[1]} would be."
        )

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Sample:
        parts = [self.samples[index] for index in self.rows[index]]
        return tuple(torch.cat(part) for part in zip(*parts, strict=True))


def count_padding(lengths: list[int], batch_size: int) -> int:
    """The number of padding tokens of batches in this order."""
    batches = [lengths[start : start + batch_size] for start in range(0, len(lengths), batch_size)]
    return sum(max(batch) * len(batch) - sum(batch) for batch in batches)

#: slot before_loaders
train_set = Packed(train_set, config)
