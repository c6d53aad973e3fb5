import csv
from pathlib import Path

#: slot functions
def read_metrics(path: Path) -> list[dict[str, str]]:
    """The metrics that SageMaker finds in the log."""
    with path.open(newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [{"Name": row["metric_name"], "Regex": row["metric_regex"]} for row in rows]

#: slot estimator
metric_definitions=read_metrics(Path({{ sagemaker.sagemaker_metrics_file | python }})),
