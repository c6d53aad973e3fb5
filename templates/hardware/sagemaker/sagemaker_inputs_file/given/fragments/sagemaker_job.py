import csv
from pathlib import Path

#: slot functions
def read_channels(path: Path) -> dict[str, str]:
    """The location of each channel's data. The job finds it in /opt/ml/input/data/CHANNEL."""
    with path.open(newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {row["channel_name"]: row["data_location"] for row in rows}

#: replace fit
estimator.fit(read_channels(Path({{ sagemaker.sagemaker_inputs_file | python }})))
