"""Speech recognition with Whisper: its prefix, its window, its losses, and the texts it writes."""

import wave
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.bad_files import refuse_flags
from support.in_order import OFF, ten_losses
from support.recordings import HUB
from support.rendering import of_task
from support.split import assert_split_trains_alike
from support.training import (
    ask,
    count_passed,
    read_rows,
    run,
    run_tests,
    start,
    succeed,
)
from support.whisper import TASK, make_project

pytestmark = pytest.mark.train

FILES = of_task(TASK, dataset="files", seconds=0.7, case="lower", ignored="!")
FILES["training.num_workers"] = 0
BUNDLE = ("app", "evaluate", "export", "share")
BRIEF = ["--epochs", "1", "--max-steps", "3", "--limit-batches", "3", "--batch-size", "4"]


# the prefix of each model, language and task, and whether generate() begins with the same
PREFIXES = """
prefixes = []
for name, language, task in ways:
    config = train.Config(pretrained_name=name, language=language, speech_task=task)
    built, seen = model.build_model(config), []
    built.model.get_decoder().register_forward_pre_hook(
        lambda _, __, given: seen.append(given["input_ids"].tolist()), with_kwargs=True
    )
    sample = data.build_datasets(config)[0][0]
    built.write(data.collate([sample] * 2)[0])
    prefix = built.tokenizer.prefix
    assert seen[0] == [prefix] * 2, (seen[0], prefix)
    assert sample[1][: len(prefix)].tolist() == prefix
    assert (sample[1] == prefix[0]).sum() == 1
    words = built.tokenizer.tokenizer.convert_ids_to_tokens(prefix)
    prefixes.append(" ".join(word.strip("<|>") for word in words))
"""


def test_a_users_sounds_train_and_what_is_wrong_is_named(tmp_path: Path) -> None:
    """A text has one prefix, in training and when it is written."""
    project = make_project(tmp_path, FILES, "several", "english", "outdated")
    trained = succeed(start(project, ["train.py", *BRIEF]))
    assert "sounds of the training data are longer than --seconds and left out" in trained.stdout
    assert "val_wer" in trained.stdout and "max_length" not in trained.stderr
    assert len(read_rows(run(project, "predict.py", "clips/001.wav", "clips"))) == 41
    ways = [("several", "English", "transcribe"), ("several", "de", "translate")]
    ways += [("several", "", "transcribe"), ("english", "", "transcribe")]
    ways += [("english", "en", "transcribe")]
    assert ask(project, f"ways = {ways}{PREFIXES}", "prefixes") == [
        "startoftranscript en transcribe notimestamps",
        "startoftranscript de translate notimestamps",
        "startoftranscript transcribe notimestamps",
        *["startoftranscript notimestamps"] * 2,
    ]
    other = "from transformers import Wav2Vec2Config; Wav2Vec2Config().save_pretrained('other')"
    run(project, "-c", other)
    rows = ["file,text", "clips/000.wav,a b", f"clips/001.wav,{'cb' * 27}"]
    (project / "long.csv").write_text("\n".join(rows))
    wrong = {
        ("--path", "long.csv"): "long.csv, line 3: its text has 55 tokens, and --max-tokens",
        ("--max-tokens", "61"): "--max-tokens 61: 'several' writes at most 60: lower it.",
        ("--seconds", "4"): "--seconds 4: 'several' hears 3 seconds: lower it.",
        ("--language", "fr"): "--language fr: 'several' knows only de, en, zh.",
        ("--pretrained-name", "english", "--language", "de"): "'english' only transcribes English",
        ("--pretrained-name", "english", "--speech-task", "translate"): "'english' only transcribe",
        ("--pretrained-name", "outdated"): "The generation_config.json of 'outdated' is outdated, "
        "it has no 'lang_to_id'",
        ("--pretrained-name", "other"): "'other' is a wav2vec2 model. Choose a Whisper model.",
        ("--pretrained-name", "nothing"): "The model 'nothing' can't be loaded: ",
    }
    refuse_flags(project, wrong)


@pytest.mark.sweep
def test_sounds_beyond_the_window_are_cut_and_counted(tmp_path: Path) -> None:
    """Training leaves them out, evaluation and predictions hear their beginning."""
    project = make_project(tmp_path, FILES, "short")
    for number in range(3):
        with wave.open(str(project / f"clips/{number:03}.wav"), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(bytes(range(240)) * 100)  # 1.5 seconds
    trained = run(project, "train.py", *BRIEF, "--val-path", "clips.csv")
    assert "3 sounds of the validation data are cut to 1 seconds" in trained
    asked = start(project, ["predict.py", "clips"])
    assert asked.returncode == 0 and len(asked.stdout.splitlines()) == 41, asked.stderr
    cut = [line for line in asked.stderr.splitlines() if line.endswith(" seconds are cut to 1")]
    assert cut == [f"clips/00{number}.wav: 1.5 seconds are cut to 1" for number in range(3)]


@pytest.mark.sweep
def test_a_dataset_of_the_hub_trains(tmp_path: Path) -> None:
    given = of_task(TASK, dataset="huggingface", dataset_name="hub", dataset_subset="")
    project = make_project(tmp_path, {**FILES, **given})
    for command in (["-c", HUB], ["train.py", *BRIEF]):
        run(project, *command)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("model", "given"),
    [
        ("several", {}),
        ("english", {"features.lora.enabled": True}),
        (
            "several",
            {
                "training.gradient_accumulation_steps": 2,
                **dict.fromkeys((f"features.{name}.enabled" for name in BUNDLE), True),
            },
        ),
        ("several", FILES),
    ],
    ids=["plain", "lora", "features", "files"],
)
def test_a_project_passes_its_tests(model: str, given: dict[str, Value], tmp_path: Path) -> None:
    assert count_passed(run_tests(make_project(tmp_path, given, model))) >= 23


TRANSFORMERS = """
import torch
from transformers import AutoModelForSpeechSeq2Seq, AutoProcessor
from model import build_model
processor = AutoProcessor.from_pretrained("out")
model = AutoModelForSpeechSeq2Seq.from_pretrained("out")
assert {str(weight.dtype) for weight in model.parameters()} == {"torch.float32"}
row = data.load_rows(config)[2][0]
sound = data.load_sound(row, 16000)
features = processor(sound.numpy(), sampling_rate=16000, return_tensors="pt").input_features
assert torch.equal(features[0], data.prepare(sound, config))
seen = []
model.get_decoder().register_forward_pre_hook(
    lambda _, __, given: seen.append(given["input_ids"]), with_kwargs=True
)
processor.batch_decode(model.generate(features), skip_special_tokens=True)
prefixes = [seen[0].tolist(), [build_model(config).tokenizer.prefix]]
"""


@pytest.mark.sweep
@pytest.mark.parametrize("language", ["german", ""])
def test_transformers_loads_what_is_exported(language: str, tmp_path: Path) -> None:
    """Its generate() writes in the same language, with the same prefix, without being told."""
    given = {"features.export.enabled": True, f"{TASK}.language": language}
    project = make_project(tmp_path, given)
    run(project, "train.py", *BRIEF, "--learning-rate", "0.02")
    run(project, "export.py", "--format", "transformers", "--output", "out")
    count, (theirs, ours) = ask(project, TRANSFORMERS, "[len(seen), prefixes]")
    assert theirs == ours and 0 < count <= 40


TRAINER = """
from data import Sounds, load_rows, load_sound, sample_rate
from transformers import (
    AutoModelForSpeechSeq2Seq, AutoProcessor, Seq2SeqTrainer, Seq2SeqTrainingArguments,
)
from transformers.models.whisper.modeling_whisper import shift_tokens_right

config = train.Config(language="german")
rows = load_rows(config)[0][:80]
ours = train_in_order(
    lambda config: Sounds(rows, config), batch_size=8, learning_rate=0.01, language="german"
)

# from here on, as run_speech_recognition_seq2seq.py does it
processor = AutoProcessor.from_pretrained("several")
processor.tokenizer.set_prefix_tokens(language="german", task="transcribe")
model = AutoModelForSpeechSeq2Seq.from_pretrained("several", dtype=torch.float32)
size = len(processor.tokenizer.prefix_tokens) - 1

def collate(features):
    inputs = [{"input_features": feature["input_features"]} for feature in features]
    batch = processor.feature_extractor.pad(inputs, return_tensors="pt")
    texts = [{"input_ids": feature["labels"]} for feature in features]
    padded = processor.tokenizer.pad(texts, return_tensors="pt")
    labels = padded["input_ids"].masked_fill(padded.attention_mask.ne(1), -100)
    start = model.config.decoder_start_token_id
    if (labels[:, 0] == start).all():
        labels = labels[:, 1:]
    batch["decoder_input_ids"] = shift_tokens_right(labels, model.config.pad_token_id, start)
    # the one difference: the rest of the prefix, which is always given, has no loss
    batch["labels"] = labels.clone()
    batch["labels"][:, :size] = -100
    return batch

features = []
for row in rows:
    sound = load_sound(row, sample_rate(config)).numpy()
    found = processor.feature_extractor(sound, sampling_rate=16000)
    labels = processor.tokenizer(row.text).input_ids
    features.append({"input_features": found["input_features"][0], "labels": labels})
InOrder, theirs = in_order(Seq2SeqTrainer)
arguments = Seq2SeqTrainingArguments(
    **ARGUMENTS, per_device_train_batch_size=8, learning_rate=0.01, optim="adamw_torch"
)
InOrder(model, arguments, train_dataset=features, data_collator=collate).train()
"""


@pytest.mark.sweep
def test_losses_are_those_of_the_recipe_of_transformers(tmp_path: Path, proven) -> None:
    """From the same weights, with its collator and Seq2SeqTrainer, and the same optimizer.

    The recipe also learns the tokens of the prefix after the first, which are always given.
    """
    ours = ten_losses(make_project(tmp_path, OFF), TRAINER)
    assert ours[-1] < ours[0] - 0.5
    proven("steps of Whisper that are those of the recipe of Transformers", 10)


@pytest.mark.sweep
def test_a_split_model_writes_texts(tmp_path: Path) -> None:
    """With FSDP 2, on two processes: the same metrics as the whole model."""
    given: dict[str, Value] = {"hardware.sharding": "fsdp", "hardware.num_processes": 2}
    flags = ["--epochs", "1", "--limit-batches", "20", "--batch-size", "4"]
    assert_split_trains_alike(make_project(tmp_path, given), *flags, "--learning-rate", "0.01")
