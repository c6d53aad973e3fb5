import torch
from torch import Tensor

#: slot classes
def find_entities(tags: list[int]) -> set[tuple[int, int, int]]:
    """The entities of a sentence: type, first word, and the word after the last.

    Tag 0 is outside, tag 2 * type + 1 begins an entity, and the next one continues it. A tag
    that continues no entity of its type is not an entity, as in seqeval's strict IOB2. The script
    of CoNLL-2003 is less strict: there, such a tag begins an entity.
    """
    found, first = set(), None
    for place, tag in enumerate([*tags, 0]):
        if first is not None and tag != tags[first] + 1:
            found.add((tags[first] // 2, first, place))
            first = None
        if tag % 2 == 1:
            first = place
    return found


def count_entities(predictions: Tensor, targets: Tensor) -> Tensor:
    """For each sentence, the entities that are right, predicted, and in the data: (batch, 3).

    An entity is right if its type and all of its words are. `predictions` and `targets` are tags of
    shape (batch, length); where a target is IGNORED, there is no word.
    """
    counts = []
    for predicted, actual in zip(predictions.cpu(), targets.cpu(), strict=True):
        words = actual != IGNORED
        found, known = (find_entities(tags[words].tolist()) for tags in (predicted, actual))
        counts.append([len(found & known), len(found), len(known)])
    return torch.tensor(counts, device=targets.device)


def entity_scores(counts: Tensor) -> dict[str, float]:
    """Precision, recall and F1 of the counts of a whole set, shape (3,). Without any, 0."""
    right, predicted, actual = counts.tolist()
    return {
        "precision": right / max(predicted, 1),
        "recall": right / max(actual, 1),
        "f1": 2 * right / max(predicted + actual, 1),
    }
