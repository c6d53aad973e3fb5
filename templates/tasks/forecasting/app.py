import pandas as pd

from predict import list_lines, read_inputs

#: slot row
if None in values:
    raise SystemExit("Choose a file first.")
rows = predict(config, model, read_inputs(config, [*values]))

#: slot shown
names, *lines = list_lines(rows, config)
return pd.DataFrame(lines, columns=names)

#: slot inputs
inputs = gr.File(label="a file with the columns of the training data", type="filepath")

#: slot outputs
outputs = gr.Dataframe(label="forecasts")
