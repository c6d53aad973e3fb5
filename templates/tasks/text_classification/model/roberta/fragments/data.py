from functools import cache

from transformers import RobertaTokenizer

#: slot tokenizer
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """A tokenizer like RoBERTa's, trained on the training data."""
    return train_tokenizer(tuple(text for texts, _ in load_texts(config)[0] for text in texts))


@cache
def train_tokenizer(texts: tuple[str, ...]) -> PreTrainedTokenizerBase:
    tokenizer = RobertaTokenizer()
    return tokenizer.train_new_from_iterator(texts, vocab_size=4096, show_progress=False)
