from data import list_letters
from metrics import count_edits

#: slot functions
def list_samples(config) -> list[tuple]:
    """The sounds of the test data that the run evaluated, and their texts as numbers."""
    return [
        (sound[:length], text[:size].tolist())
        for batch in read_batches(config)
        for sound, length, text, size in zip(*batch, strict=True)
    ]

#: slot metric
samples, letters = list_samples(config), list_letters(config)
rows = predict_sounds(config, model, [sound for sound, _ in samples])
edits = size = 0
for row, (_, numbers) in zip(rows, samples, strict=True):
    text = "".join(letters[number] for number in numbers)
    edits += count_edits(row["text"], text)
    size += len(text)
assert edits / size == pytest.approx(reported["test_cer"], rel=1e-6)

#: slot five
sounds = [sound for sound, _ in list_samples(config)]
rows = predict_sounds(config, model, (5 * sounds)[:5])  # there may be fewer
rows = [{**row, "sound": ""} for row in rows]
