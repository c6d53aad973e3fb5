#: into model.py at functions
"""Pretrained models and their tokenizers."""


def load(kind, name: str):
    try:
        return kind.from_pretrained(name)
    except (OSError, ValueError) as error:  # no such model, or no network
        raise SystemExit(f"--model-name {name} can't be loaded: {error}") from error
