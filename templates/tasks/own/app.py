from pathlib import Path
from tempfile import TemporaryDirectory

from predict import read_inputs

#: slot row
with TemporaryDirectory() as folder:
    path = Path(folder, "row.txt")
    path.write_text(values[0], encoding="utf-8")
    [row] = predict(config, model, read_inputs(config, [str(path)]))

#: slot shown
return row["prediction"]

#: slot inputs
inputs = gr.Textbox(value="1, 2, 3, 4", max_lines=1, label="four numbers")

#: slot outputs
outputs = gr.Number(label="prediction")

#: replace raised
message = str(error).replace(str(path), "the text")  # the user never saw this file
raise gr.Error(message, print_exception=False) from error
