from pathlib import Path
from tempfile import TemporaryDirectory

from predict import read_inputs

#: slot row
with TemporaryDirectory() as folder:
    #: region file
    path = Path(folder, "row.csv")
    values[0].head(1).to_csv(path, index=False)
    #: end file
    [row] = predict(config, model, read_inputs(config, [str(path)]))

#: slot inputs
#: region example
example = {}
#: end example
inputs = gr.Dataframe([list(example.values())], headers=list(example), label="row")
