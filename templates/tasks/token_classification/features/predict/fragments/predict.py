import csv
import json
import sys

#: slot functions
def write(rows: list[dict], as_json: bool) -> None:
    """Print JSON lines, or CSV with a row for each entity."""
    if as_json:
        print(*map(json.dumps, rows), sep="\n")
        return
    columns = ["line", "type", "entity", "start", "end", "probability"]
    table = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    table.writeheader()
    for line, row in enumerate(rows, start=1):
        table.writerows({"line": line, **entity} for entity in row["entities"])

#: slot arguments
parser.add_argument("--json", action="store_true", help="print JSON lines, with the texts")

#: slot write
write(rows, arguments.json)
