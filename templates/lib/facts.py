#: into data.py at datasets
"""What was understood of the data, in words."""

from collections import Counter
from collections.abc import Iterable


def count_names(names: Iterable[str], most: int = 20) -> str:
    """Names and how often each occurs, the most frequent ones first: cat (12), dog (9)."""
    counts = Counter(names).most_common()
    shown = ", ".join(f"{name} ({count:,})" for name, count in counts[:most])
    return shown + f" and {len(counts) - most:,} more" * (len(counts) > most)
