#: file when model=whisper
"""The model: log-mel features and the start of a text in, logits of the next token out."""

from functools import cache

import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForSpeechSeq2Seq,
    AutoTokenizer,
    GenerationConfig,
)
from transformers.models.whisper.tokenization_whisper import TO_LANGUAGE_CODE

from metrics import IGNORED


class Tokenizer:
    """The tokenizer of a Whisper model, and the tokens before each text.

    This prefix starts the text, names its language and the task, if the model was trained for
    several, and says that there are no timestamps.
    """

    def __init__(self, config) -> None:
        name = config.pretrained_name
        settings = load(AutoConfig, name)
        if settings.model_type != "whisper":
            raise SystemExit(f"{name!r} is a {settings.model_type} model. Choose a Whisper model.")
        self.tokenizer, self.generation = load(AutoTokenizer, name), load(GenerationConfig, name)
        self.end, self.prefix = self.tokenizer.eos_token_id, self.find_prefix(config)
        if config.max_tokens > (room := settings.max_target_positions - len(self.prefix)):
            flag = f"--max-tokens {config.max_tokens}"
            raise SystemExit(f"{flag}: {name!r} writes at most {room}: lower it.")
        self.generation.max_length = config.max_tokens  # generate() adds the prefix
        self.generation.suppress_tokens = None  # texts can have these, such as quotes

    def find_prefix(self, config) -> list[int]:
        """Set in which language and for which task generate() writes, and return its prefix."""
        name, generation = config.pretrained_name, self.generation
        prefix, generation.forced_decoder_ids = [generation.decoder_start_token_id], None
        try:
            if generation.is_multilingual:
                languages, tasks = generation.lang_to_id, generation.task_to_id
            last = generation.no_timestamps_token_id
        except AttributeError as error:
            raise SystemExit(
                f"The generation_config.json of {name!r} is outdated, it has no {error.name!r}: "
                "copy that of the Whisper model that it was fine-tuned from."
            ) from error
        language = config.language.lower()
        code = TO_LANGUAGE_CODE.get(language, language)
        if not generation.is_multilingual:
            if code not in ("", "en") or config.speech_task == "translate":
                raise SystemExit(f"{name!r} only transcribes English: --language en, or nothing.")
            return [*prefix, last]
        if code and f"<|{code}|>" not in languages:
            known = ", ".join(sorted(token.strip("<|>") for token in languages))
            raise SystemExit(f"--language {config.language}: {name!r} knows only {known}.")
        if code:
            generation.language, generation.task = code, config.speech_task
            return [*prefix, languages[f"<|{code}|>"], tasks[config.speech_task], last]
        prefix += [tasks[config.speech_task], last]
        # or generate() would detect the language of each sound, and put it into the prefix
        generation.forced_decoder_ids = list(enumerate(prefix))[1:]
        return prefix

    def count(self, text: str) -> int:
        """The tokens of a text, and one that ends it."""
        return len(self.tokenizer(text, add_special_tokens=False)["input_ids"]) + 1

    def encode(self, texts: list[str]) -> list[tuple[Tensor, Tensor]]:
        """The inputs of the decoder for each text, and its targets.

        The inputs begin with the prefix. It is always given, so it has no loss.
        """
        given = [IGNORED] * (len(self.prefix) - 1)
        rows = self.tokenizer(texts, add_special_tokens=False)["input_ids"] if texts else []
        return [
            (torch.tensor([*self.prefix, *row]), torch.tensor([*given, *row, self.end]))
            for row in rows
        ]

    def decode(self, tokens: Tensor) -> list[str]:
        """The texts of rows of tokens, without special tokens. One space separates words."""
        tokens = tokens.where(tokens >= 0, self.end)  # IGNORED is below 0
        settings = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        return [" ".join(text.split()) for text in self.tokenizer.batch_decode(tokens, **settings)]


class Whisper(nn.Module):
    """Logits (batch, length, tokens) for log-mel features (batch, mels, frames) and inputs.

    Radford and others 2022, https://arxiv.org/abs/2212.04356
    """

    def __init__(self, config) -> None:
        super().__init__()
        # in 16 bits, as some models are stored, small steps would be rounded away
        name, settings = config.pretrained_name, {"dtype": torch.float32}
        self.model = load(AutoModelForSpeechSeq2Seq, name, **settings)
        self.tokenizer = build_tokenizer(config)
        self.model.generation_config = self.tokenizer.generation
        #: slot layer_classes

    def forward(self, sounds: Tensor, inputs: Tensor) -> Tensor:
        return self.model(
            input_features=sounds,
            decoder_input_ids=inputs,
            use_cache=False,  # it only helps generate()
        ).logits

    def write(self, sounds: Tensor, **settings) -> list[str]:
        """The text of each sound, by greedy decoding of at most --max-tokens tokens."""
        settings |= {"return_timestamps": False, "do_sample": False, "num_beams": 1}
        settings["attention_mask"] = torch.ones_like(sounds[:, 0])  # Whisper hears the silence, too
        return self.tokenizer.decode(self.model.generate(sounds, **settings))


def load(kind, name: str, **settings):
    try:
        return kind.from_pretrained(name, **settings)
    except (OSError, ValueError) as error:  # no such model, or no network
        raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error


@cache
def build_tokenizer(config) -> Tokenizer:
    return Tokenizer(config)


def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    return Whisper(config)
