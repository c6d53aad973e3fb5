from functools import cache
from transformers import AutoConfig, AutoTokenizer, PreTrainedConfig

import torch.nn.functional as F

#: slot letters
# models that can mask padding
KINDS = ("hubert", "sew", "unispeech", "unispeech-sat", "wav2vec2", "wavlm")


@cache
def load_settings(name: str) -> PreTrainedConfig:
    """The configuration of a pretrained model."""
    try:
        settings = AutoConfig.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
    if settings.model_type not in KINDS or getattr(settings, "add_adapter", False):
        raise SystemExit(
            f"{name!r} is a {settings.model_type} model. Choose one of {', '.join(KINDS)}, "
            "without an adapter layer."
        )
    return settings


@cache
def read_vocabulary(name: str) -> tuple[list[str], list[int]]:
    """The letters of a pretrained model, after the blank and the space, and their places.

    Both are empty if it was not trained to transcribe. Special tokens, such as <s>, are left out.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, TypeError, ValueError):  # it has none
        return [], []
    numbers, space = tokenizer.get_vocab(), getattr(tokenizer, "word_delimiter_token", None)
    if space not in numbers:
        return [], []
    size, others = load_settings(name).vocab_size, {space, *tokenizer.all_special_tokens}
    letters = {n: text for text, n in numbers.items() if n < size and text not in others}
    places = sorted(letters)
    first = [tokenizer.pad_token_id, numbers[space]]
    return ["", " ", *(letters[place] for place in places)], [*first, *places]

#: slot known_letters
known, _ = read_vocabulary(config.pretrained_name)
if used <= set(known):
    return known

#: slot prepare
def count_frames(samples, config):
    """The number of frames that the model outputs for a number of samples, or a tensor of them."""
    settings = load_settings(config.pretrained_name)
    for kernel, stride in zip(settings.conv_kernel, settings.conv_stride, strict=True):
        samples = (samples - kernel) // stride + 1
    return samples


def count_samples(config) -> int:
    """The minimum number of samples for one frame."""
    settings, samples = load_settings(config.pretrained_name), 1
    sizes = zip(settings.conv_kernel, settings.conv_stride, strict=True)
    for kernel, stride in reversed(list(sizes)):
        samples = (samples - 1) * stride + kernel
    return samples


def prepare(sound: Tensor, config) -> Tensor:
    """The model input of a sound, shape (samples,)."""
    extractor = load_extractor(config.pretrained_name)
    sound = F.pad(sound, (0, max(0, count_samples(config) - len(sound))))
    batch = extractor(sound.numpy(), sampling_rate=sample_rate(config), return_tensors="pt")
    return batch[extractor.model_input_names[0]][0]
