#: slot methods
def write(self, sources: Tensor, **settings) -> list[str]:
    """The text for each source, of at most --max-target-length tokens."""
    length = self.tokenizer.config.max_target_length
    return self.tokenizer.decode(self.generate(sources, length, **settings))
