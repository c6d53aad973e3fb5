import pandas as pd

#: slot read_file
return pd.read_parquet(path)
