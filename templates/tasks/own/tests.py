from math import isfinite

import gradio as gr
import pytest
import torch

#: into tests/test_app.py
#: slot values
with pytest.raises(gr.Error, match="use four numbers"):
    page.fn("1, 2")
values = ["1, 2, 3, 4"]

#: slot expected
assert isfinite(shown)

#: into tests/test_predict.py
#: slot metric
inputs, targets = map(torch.cat, zip(*read_batches(config), strict=True))
rows = predict.predict(config, model, inputs)
errors = [abs(row["prediction"] - float(target)) for row, target in zip(rows, targets, strict=True)]
assert sum(errors) / len(errors) == pytest.approx(reported["test_error"], rel=1e-5)

#: slot five
rows = predict.predict(config, model, read_batches(config)[0][0][:5])
