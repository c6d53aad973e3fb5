import csv
import json
import sys
from contextlib import nullcontext

from files import writing

#: slot write
def write(rows: list[dict], path: Path | None) -> None:
    """Write JSON lines to a .jsonl file, or CSV to another one or to standard output."""
    with writing(path), path.open("w") if path else nullcontext(sys.stdout) as file:
        #: region write_text
        if path and path.suffix == ".jsonl":
            file.writelines(f"{json.dumps(row)}\n" for row in rows)
        else:
            table = csv.DictWriter(file, rows[0], lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
        #: end write_text
