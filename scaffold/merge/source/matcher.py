"""What `difflib` finds, also where the same words or lines are there thousands of times.

It compares each word with all that are equal to it, which takes minutes for a table of 16,000
rows: each has the same commas. A suffix automaton finds the same longest match in one pass.
"""

import difflib
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

Word = TypeVar("Word", bound=Hashable)

_FEW = 5  # equal words for each word, up to which `difflib` is faster


class SequenceMatcher(difflib.SequenceMatcher[Word]):
    """A matcher for which no word is junk."""

    def __init__(self, a: Sequence[Word], b: Sequence[Word]) -> None:
        super().__init__(None, a, b, autojunk=False)
        self._sides = a, b
        counts = Counter(b)
        pairs = sum(counts[word] for word in a)
        self._repeats = pairs > _FEW * (len(a) + len(b))

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        if not self._repeats:
            return super().find_longest_match(alo, ahi, blo, bhi)
        one, two = self._sides
        ahi, bhi = len(one) if ahi is None else ahi, len(two) if bhi is None else bhi
        nexts, links, lengths, ends = _automaton(two, blo, bhi)
        state = length = 0
        best = difflib.Match(alo, blo, 0)
        for place in range(alo, ahi):
            word = one[place]
            while state and word not in nexts[state]:
                state = links[state]
                length = lengths[state]
            if word in nexts[state]:
                state = nexts[state][word]
                length += 1
            if length > best.size:
                best = difflib.Match(place - length + 1, ends[state] - length + 1, length)
        return best


def pairs(one: Sequence[Hashable], two: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """The places of what is the same in both, in order."""
    for i, j, size in SequenceMatcher(one, two).get_matching_blocks():
        yield from ((i + step, j + step) for step in range(size))


def _automaton(
    words: Sequence[Word], start: int, stop: int
) -> tuple[list[dict[Word, int]], list[int], list[int], list[int]]:
    """The states for all parts of some words: what leads on, the state of the longest other end of
    a part, the length of the longest part, and the place where it ends first."""
    nexts: list[dict[Word, int]] = [{}]
    links, lengths, ends = [-1], [0], [start]
    last = 0
    for place in range(start, stop):
        word, before, last = words[place], last, len(nexts)
        nexts.append({})
        links.append(0)
        lengths.append(lengths[before] + 1)
        ends.append(place)
        while before >= 0 and word not in nexts[before]:
            nexts[before][word] = last
            before = links[before]
        if before < 0:
            continue
        known = links[last] = nexts[before][word]
        if lengths[known] == lengths[before] + 1:
            continue
        copy = len(nexts)
        nexts.append(nexts[known].copy())
        links.append(links[known])
        lengths.append(lengths[before] + 1)
        ends.append(ends[known])
        links[last] = links[known] = copy
        while before >= 0 and nexts[before].get(word) == known:
            nexts[before][word] = copy
            before = links[before]
    return nexts, links, lengths, ends
