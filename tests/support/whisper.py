"""Projects with a small Whisper."""

from collections.abc import Mapping
from pathlib import Path

from scaffold.answers.catalog import Value
from support.chat_models import TRAIN_TOKENS
from support.recordings import RECORD
from support.rendering import of_task, write_project
from support.training import run

TASK = "speech_recognition"
WHISPER = of_task(TASK, model="whisper", pretrained_name="several", max_tokens=40)
# small Whisper models, whose tokenizer is trained on the spot. They hear a second or three, and are
# stored in 16 bits. `english` knows one language, the others know three. The weights of `wild` are
# large, so it writes other texts for other sounds.
MAKE_MODELS = TRAIN_TOKENS + """
import json, sys
import torch
from transformers import (
    GenerationConfig, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration,
    WhisperTokenizer,
)

bpe = train_tokens("an egg and a lamp on a page", size=270)
bpe = json.loads(bpe.to_str())["model"]
end = len(bpe["vocab"])
for kind in sys.argv[1:]:
    torch.manual_seed(0)
    languages = ["<|en|>", "<|zh|>", "<|de|>"] if kind != "english" else []
    others = ["translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"]
    special = ["<|startoftranscript|>", *languages, *(f"<|{name}|>" for name in others)]
    merges = [tuple(pair) for pair in bpe["merges"]]
    vocabulary = {**bpe["vocab"], "<|endoftext|>": end}
    tokenizer = WhisperTokenizer(vocab=vocabulary, merges=merges, pad_token="<|endoftext|>")
    tokenizer.add_special_tokens({"additional_special_tokens": special})
    tokenizer.save_pretrained(kind)
    ids = {name: end + 1 + number for number, name in enumerate(special)}
    seconds = 1 if kind == "short" else 3
    WhisperFeatureExtractor(feature_size=8, chunk_length=seconds).save_pretrained(kind)
    known = {f"{name}_token_id": end for name in ("bos", "eos", "pad")}
    known["decoder_start_token_id"] = ids["<|startoftranscript|>"]
    parts = {f"{part}_{name}": size for part in ("encoder", "decoder")
             for name, size in {"layers": 1, "attention_heads": 2, "ffn_dim": 24}.items()}
    model = WhisperForConditionalGeneration(WhisperConfig(
        vocab_size=len(tokenizer), num_mel_bins=8, d_model=16, max_source_positions=50 * seconds,
        max_target_positions=64, begin_suppress_tokens=None, **parts, **known,
        init_std=0.6 if kind == "wild" else 0.02,
    ))
    given = {"max_length": 64, "no_timestamps_token_id": ids["<|notimestamps|>"], **known}
    given |= {"suppress_tokens": [1, 2, ids["<|nospeech|>"]], "begin_suppress_tokens": [220, end]}
    if languages:  # as stored with the models of OpenAI
        given["lang_to_id"] = {name: ids[name] for name in languages}
        given["task_to_id"] = {name: ids[f"<|{name}|>"] for name in others[:2]}
        given["forced_decoder_ids"] = [[1, None], [2, ids["<|transcribe|>"]]]
    else:
        given["forced_decoder_ids"] = [[1, ids["<|notimestamps|>"]]]
    if kind == "outdated":
        del given["lang_to_id"]
    model.generation_config = GenerationConfig(is_multilingual=bool(languages), **given)
    model.half().save_pretrained(kind)
"""


def make_project(folder: Path, given: Mapping[str, Value], *models: str) -> Path:
    """A project with these models in it, and sounds if a table names them. It uses the first."""
    models = models or ("several",)
    first: dict[str, Value] = {f"{TASK}.pretrained_name": models[0]}
    write_project(folder, TASK, **{**WHISPER, **first, **given})
    run(folder, "-c", MAKE_MODELS, *models)
    if f"{TASK}.dataset" in given:
        run(folder, "-c", RECORD, "clips", "40")
    return folder
