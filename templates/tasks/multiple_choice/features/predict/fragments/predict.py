import csv
import json
import sys

#: slot arguments
parser.add_argument("--json", action="store_true", help="print JSON lines, with all probabilities")

#: slot write
if arguments.json:
    print(*map(json.dumps, rows), sep="\n")
else:
    columns = ["context", "label", "choice", "probability"]
    table = csv.DictWriter(sys.stdout, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
