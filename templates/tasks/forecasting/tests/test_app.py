from unittest import mock

import gradio as gr
import pandas as pd
import pytest

import predict
from data import read_series

#: slot values
with pytest.raises(gr.Error, match="Choose a file first"):
    page.fn(None)
history = read_series(config).iloc[0].dropna()
rows = pd.DataFrame({"time": history.index, "value": history.to_numpy(), "series": "a"})
values = ["histories.csv"]

#: wrap shown
with mock.patch.object(predict, "read_table", lambda *_: rows):
    ...  #: body

#: slot expected
assert len(shown) == config.horizon and shown["forecast"].notna().all()
