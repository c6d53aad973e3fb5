from io import StringIO

import pandas as pd
from sklearn.datasets import load_diabetes

#: replace example when dataset=diabetes
data = load_diabetes()
example = dict(zip(data.feature_names, data.data[0].tolist(), strict=True))

#: replace file when dataset=parquet
path, text = Path(folder, "row.parquet"), values[0].head(1).to_csv(index=False)
pd.read_csv(StringIO(text)).to_parquet(path)  # as numbers; the page returns texts
