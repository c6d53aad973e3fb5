from metrics import count_errors, error_rates

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
