from functools import cache

import pandas as pd
from pandas.api.types import is_numeric_dtype

#: slot read_file
table = pd.read_parquet(path)
