"""Audio classification of a user's sounds, and of pretrained models."""

import csv
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.bad_files import refuse_flags, refuse_paths
from support.inputs import write_sound
from support.rendering import of_task, write_project
from support.training import (
    ask,
    count_passed,
    evaluate,
    make_pretrained,
    read_rows,
    run,
    run_tests,
    said,
)

pytestmark = pytest.mark.train

TASK = "audio_classification"
FILES = of_task(TASK, dataset="files", path="calls", seconds=0.4, width=4)
FILES["training.num_workers"] = 0
BRIEF = ["--epochs", "1", "--batch-size", "4"]


def record(folder: Path, count: int) -> None:
    """Sounds of several lengths and rates, in a folder for each class."""
    for number in range(count):
        name, hertz = [("gull", 400), ("frog", 1500)][number % 2]
        rate, seconds = (8000, 16000, 22050)[number % 3], 0.1 + 0.01 * number
        path = folder / name / f"{number:03}.wav"
        write_sound(path, round(rate * seconds), rate, hertz * (0.8 + 0.01 * number))


def make_project(folder: Path, given: Mapping[str, Value]) -> Path:
    """A project for sounds of a folder, and the folder."""
    write_project(folder, TASK, **{**FILES, **given})
    record(folder / "calls", 40)
    return folder


def test_a_users_sounds_train_and_a_wrong_file_is_named(tmp_path: Path) -> None:
    """Nothing is trained then. Each file that is predicted has its row."""
    project = make_project(tmp_path, {})
    assert "sounds are longer than --seconds: the rest is cut" in run(project, "train.py", *BRIEF)
    assert json.loads((project / "runs/latest/classes.json").read_text()) == ["frog", "gull"]
    rows = read_rows(run(project, "predict.py", "calls/frog/001.wav", "calls/gull"))
    assert len(rows) == 21
    for row in rows:
        chances = {name: float(row[f"p_{name}"]) for name in ("frog", "gull")}
        assert sum(chances.values()) == pytest.approx(1)
        assert row["label"] == max(chances, key=chances.__getitem__)
    for name in ("float", "flac"):
        shutil.copytree(project / "calls", project / name)
    whole = (project / "float/gull/000.wav").read_bytes()
    (project / "float/gull/000.wav").write_bytes(whole[:20] + bytes([3]) + whole[21:])
    (project / "flac/gull/x.flac").touch()
    unread = "float/gull/000.wav can't be read as WAV: unknown format: 3. Choose soundfile as the"
    expected = {
        "float": unread,
        "flac": "flac/gull/x.flac can't be read: choose soundfile as the reader, or convert it",
    }
    refuse_paths(project, expected)
    refuse_flags(project, {("float/gull/000.wav",): unread}, "predict.py")


REFERENCE = """
import numpy as np
import torch
from math import pi
from scipy.signal import resample_poly
from transformers.audio_utils import mel_filter_bank, spectrogram, window_function
from audio import log_mel, mel_bands, resample

draw = torch.Generator().manual_seed(0)
for old, new, up, down in ((48000, 16000, 1, 3), (44100, 16000, 160, 441), (8000, 16000, 2, 1)):
    # noise below 3 kHz, which both filters keep
    smooth = np.fft.rfft(torch.randn(old, generator=draw).numpy())
    smooth[3000:] = 0
    sound = torch.from_numpy(np.fft.irfft(smooth)).float()
    found = resample(sound, old, new).numpy()
    expected = resample_poly(sound.numpy(), up, down, window=("kaiser", 8.0))
    assert len(found) == len(expected) == new
    inner = slice(500, -500)
    assert np.abs(found - expected)[inner].max() < 3e-3 * np.abs(expected).max()

for rate, mels in ((16000, 64), (16000, 80), (8000, 40), (22050, 64)):
    sound = torch.randn(rate + 123, generator=draw)
    size = round(0.025 * rate)
    settings = {"num_frequency_bins": size // 2 + 1, "num_mel_filters": mels}
    settings |= {"min_frequency": 0.0, "max_frequency": rate / 2, "sampling_rate": rate}
    bands = mel_filter_bank(**settings, norm=None, mel_scale="htk")
    np.testing.assert_allclose(mel_bands(rate, size, mels).numpy(), bands, atol=2e-4)
    expected = spectrogram(
        sound.numpy().astype(np.float64),
        window_function(size, "hann"),
        frame_length=size,
        hop_length=round(0.01 * rate),
        fft_length=size,
        power=2.0,
        pad_mode="constant",
        mel_filters=bands,
        mel_floor=1e-10,
        log_mel=None,
    ).T
    np.testing.assert_allclose(log_mel(sound, rate, mels).exp().numpy(), expected, rtol=1e-3)
"""


@pytest.mark.sweep
def test_resampling_and_spectrograms_are_those_of_other_libraries(tmp_path: Path) -> None:
    """SciPy's polyphase filter, and Transformers' spectrograms, which are those of librosa."""
    run(write_project(tmp_path, TASK), "-c", REFERENCE)


EXACT = """
import torch
from predict import load
from torchmetrics.classification import MulticlassAccuracy, MulticlassConfusionMatrix
config, model = load()
accuracy = MulticlassAccuracy(2, average="micro")
confusion = MulticlassConfusionMatrix(2)
with torch.no_grad():
    for inputs, lengths, labels in data.build_loaders(config)[2]:
        for metric in (accuracy, confusion):
            metric.update(model(inputs, lengths).argmax(dim=1), labels)
found = [float(accuracy.compute()), confusion.compute().tolist()]
"""


@pytest.mark.sweep
def test_metrics_are_those_of_torchmetrics_on_any_processes(tmp_path: Path) -> None:
    """On 1, 2 and 3 processes, of a number of sounds that none of them divides."""
    project = make_project(tmp_path, {"features.evaluate.enabled": True})
    record(project / "calls/test", 37)
    run(project, "train.py", "--epochs", "1", "--batch-size", "4")
    accuracy, confusion = ask(project, EXACT, "found")
    assert sum(map(sum, confusion)) == 37
    for processes in (1, 2, 3):
        found = evaluate(project, processes=processes)
        assert found["test_accuracy"] == pytest.approx(accuracy, rel=1e-6)
        folder = project / "runs/latest/evaluation/test"
        rows = list(csv.DictReader((folder / "confusion.csv").read_text().splitlines()))
        assert [[int(row["frog"]), int(row["gull"])] for row in rows] == confusion
        assert (folder / "confusion.png").stat().st_size


# small models with random weights, as they would come from the Hub
PRETRAINED = """
import sys
from transformers import (
    AutoConfig, AutoModel, AutoModelForAudioClassification, ASTFeatureExtractor,
    Wav2Vec2FeatureExtractor, WhisperFeatureExtractor,
)
small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
small["intermediate_size"] = 24
conv = {**small, "conv_dim": (16, 16), "conv_kernel": (10, 8), "conv_stride": (20, 16)}
conv |= {"num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2}
conv |= {"num_feat_extract_layers": 2, "classifier_proj_size": 8}
whisper = {"d_model": 16, "encoder_layers": 2, "encoder_attention_heads": 2, "decoder_layers": 1}
whisper |= {"encoder_ffn_dim": 24, "decoder_attention_heads": 2, "decoder_ffn_dim": 24}
whisper |= {"num_mel_bins": 16, "max_source_positions": 50, "vocab_size": 20}
whisper |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
layer = {**conv, "feat_extract_norm": "layer"}
features = {"max_length": 64, "num_mel_bins": 32}
ast = {**small, **features, "num_labels": 9}
kind, settings, extractor = {
    "wav2vec2": ("wav2vec2", conv, Wav2Vec2FeatureExtractor()),
    "wav2vec2-layer": ("wav2vec2", layer, Wav2Vec2FeatureExtractor(return_attention_mask=True)),
    "ast": ("audio-spectrogram-transformer", ast, ASTFeatureExtractor(**features)),
    "whisper": ("whisper", whisper, WhisperFeatureExtractor(feature_size=16, chunk_length=1)),
}[sys.argv[1]]
trained_for = AutoModelForAudioClassification if kind.startswith("audio") else AutoModel
trained_for.from_config(AutoConfig.for_model(kind, **settings)).save_pretrained("small")
extractor.save_pretrained("small")
"""


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["wav2vec2", "wav2vec2-layer", "ast", "whisper"])
def test_a_pretrained_model_is_fine_tuned(kind: str, tmp_path: Path) -> None:
    """It trains on 1 and 2 processes, and predicts with its own weights."""
    project = make_pretrained(tmp_path, TASK, PRETRAINED, kind, {})
    brief = ["train.py", "--epochs", "1", "--limit-batches", "3", "--batch-size", "4"]
    for processes in (1, 2):
        run(project, *brief, processes=processes)
    record(project / "calls", 4)
    assert len(run(project, "predict.py", "calls").splitlines()) == 5
    [message] = said(project, "train.py", ["--pretrained-name", "nothing"])
    assert message.startswith("The model 'nothing' can't be loaded: ")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("wav2vec2", {}),
        ("wav2vec2-layer", {"features.lora.enabled": True}),
        ("ast", {"features.lora.enabled": True, "features.evaluate.enabled": True}),
    ],
    ids=str,
)
def test_a_pretrained_model_passes_the_tests_of_its_project(
    kind: str, given: dict[str, Value], tmp_path: Path
) -> None:
    assert count_passed(run_tests(make_pretrained(tmp_path, TASK, PRETRAINED, kind, given))) >= 20


@pytest.mark.sweep
@pytest.mark.parametrize("reader", ["wave", "soundfile"])
def test_a_users_sounds_pass_the_tests_of_their_project(reader: str, tmp_path: Path) -> None:
    assert count_passed(run_tests(make_project(tmp_path, {f"{TASK}.reader": reader}))) >= 28
