import pandas as pd

#: slot read_file
table = pd.read_csv(path)
