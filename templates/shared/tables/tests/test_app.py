#: when project.task=tabular_classification|tabular_regression
import gradio as gr
import pytest

#: slot values
# the example that the page starts with
table = page.input_components[0]
values = [table.preprocess(table.data_model(**table.value))]
wrong = values[0].assign(**{values[0].columns[0]: "?"})
with pytest.raises(gr.Error, match="^.the table(,|:) row 1: "):
    page.fn(wrong)
