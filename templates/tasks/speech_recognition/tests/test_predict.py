from data import list_letters
from metrics import count_edits, count_errors, error_rates

#: slot functions when model=ctc|pretrained
def list_samples(config) -> list[tuple]:
    """The sounds of the test data that the run evaluated, and their texts as numbers."""
    return [
        (sound[:length], text[:size].tolist())
        for batch in read_batches(config)
        for sound, length, text, size in zip(*batch, strict=True)
    ]

#: slot metric when model=ctc|pretrained
samples, letters = list_samples(config), list_letters(config)
rows = predict_sounds(config, model, [sound for sound, _ in samples])
edits = size = 0
for row, (_, numbers) in zip(rows, samples, strict=True):
    text = "".join(letters[number] for number in numbers)
    edits += count_edits(row["text"], text)
    size += len(text)
assert edits / size == pytest.approx(reported["test_cer"], rel=1e-6)

#: slot five when model=ctc|pretrained
sounds = [sound for sound, _ in list_samples(config)]
rows = predict_sounds(config, model, (5 * sounds)[:5])  # there may be fewer
rows = [{**row, "sound": ""} for row in rows]

#: slot metric when model=whisper
rows, texts = [], []
for sounds, _, targets in read_batches(config):
    rows += predict_sounds(config, model, list(sounds))
    texts += model.tokenizer.decode(targets)
rates = error_rates(count_errors([row["text"] for row in rows], texts).sum(dim=0))
for name, value in rates.items():
    assert value == pytest.approx(reported[f"test_{name}"], rel=1e-6)

#: slot five when model=whisper
sounds = list(read_batches(config)[0][0])
rows = predict_sounds(config, model, (5 * sounds)[:5])  # there may be fewer
rows = [{**row, "sound": ""} for row in rows]
