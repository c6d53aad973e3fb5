#: slot datasets
class Fixed(Drawn):
    """For evaluation: {{ task.drawn }} depend only on the index of an image."""

    def find_seed(self, index: int) -> int:
        return index
