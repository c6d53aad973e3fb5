import torch

from data import encode

#: slot five
rows = predict.predict(config, model, ["3/14/1998", "4 May 1980", "", "x", "14.3.1998"], length=8)

#: slot functions when model=transformer
def test_targets_end_where_the_model_ends_them(trained, monkeypatch):
    config, model = predict.load(trained[0])
    written = torch.stack([encode("1998"), encode("20é")])
    later = torch.full((2, 3), ord("x"))
    monkeypatch.setattr(model, "generate", lambda *_: torch.cat([written, later], dim=1))
    rows = predict.predict(config, model, ["a", "b"], length=8)
    assert [row["text"] for row in rows] == ["1998", "20é"]
