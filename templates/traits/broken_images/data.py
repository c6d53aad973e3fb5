#: slot build_datasets
class UnreadableImage(OSError):
    """A file that can't be read as an image."""
