import csv
import sys

#: slot functions
def list_lines(rows: list[dict], step: str) -> list[list]:
    """A line for each series and time, below the names of the columns."""
    names = [name for name in rows[0] if name not in ("series", "start")]
    lines = [["series", "time", *names]]
    for row in rows:
        columns = [row[name] for name in names]
        times = list_times(row["start"], len(columns[0]), step)
        lines += [[row["series"], *line] for line in zip(times, *columns, strict=True)]
    return lines

#: slot write
lines = list_lines(rows, Scales.load(config.output_dir).step)
csv.writer(sys.stdout, lineterminator="\n").writerows(lines)
