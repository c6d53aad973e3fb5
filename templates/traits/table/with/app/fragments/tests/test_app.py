import gradio as gr
import pytest
import pandas as pd

#: slot values
# the example that the page starts with
start = page.input_components[0].value
values = [pd.DataFrame(start["data"], columns=start["headers"]).astype(str)]
wrong = values[0].assign(**{start["headers"][0]: "?"})
with pytest.raises(gr.Error, match="row.csv"):
    page.fn(wrong)
