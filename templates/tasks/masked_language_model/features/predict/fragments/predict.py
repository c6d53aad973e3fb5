import csv
import json
import sys

#: slot arguments
parser.add_argument("--json", action="store_true", help="print JSON lines")

#: slot write
if arguments.json:
    print(*map(json.dumps, rows), sep="\n")
else:
    table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
