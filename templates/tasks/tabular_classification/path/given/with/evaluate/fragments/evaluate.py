from data import fit_columns, split_table

#: replace names
names = fit_columns(config).classes

#: replace by_argument
parser.add_argument("--by", metavar="COLUMN", help="also print the metrics of each of its values")

#: replace group
table = split_table(config)[["train", "val", "test"].index(given.split)]
if given.by not in table:
    raise SystemExit(f"--by {given.by}: the table has no such column.")
groups = table[given.by].astype(str).tolist()[: len(columns["loss"])]
