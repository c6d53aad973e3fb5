from bootstrap import take
from data import split_table

#: slot arguments
parser.add_argument("--by", metavar="COLUMN", help="also print the metrics of each of its values")

#: slot group
table = split_table(config)[["train", "val", "test"].index(given.split)]
if given.by not in table:
    raise SystemExit(f"--by {given.by}: the table has no such column.")
groups = table[given.by].astype(str).tolist()[: len(columns["loss"])]
