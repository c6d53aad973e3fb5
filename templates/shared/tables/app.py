#: when project.task=tabular_classification|tabular_regression
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes

from columns import Columns
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
inputs = gr.Dataframe([list(example.values())], headers=list(example), label="row", row_limits=(1, 1))

#: replace raised
message = str(error).replace(str(path), "the table")  # the user never saw this file
raise gr.Error(message, print_exception=False) from error

#: replace example when dataset=breast_cancer
data = load_breast_cancer()
example = dict(zip(data.feature_names, data.data[0].tolist(), strict=True))

#: replace example when dataset=diabetes
data = load_diabetes()
example = dict(zip(data.feature_names, data.data[0].tolist(), strict=True))

#: replace example when path=given
columns = Columns.load(config.output_dir)
first = {name: values[0] for name, values in columns.categories.items()}
example = {**columns.medians, **columns.first_days, **first}

#: replace file when dataset=parquet
path, text = Path(folder, "row.parquet"), values[0].head(1).to_csv(index=False)
cells = pd.read_csv(StringIO(text), dtype=str, keep_default_na=False, na_values=[""])
cells.to_parquet(path)
