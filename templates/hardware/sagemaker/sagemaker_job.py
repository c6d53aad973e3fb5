#: file
"""Start train.py as a training job on Amazon SageMaker, and follow its log.

    python sagemaker_job.py [--epochs 5 ...]

Flags are passed to train.py; each needs a value. The whole folder is uploaded.
"""

import sys

import boto3
from sagemaker import Session
from sagemaker.pytorch import PyTorch


#: slot functions


def main(flags: dict[str, str]) -> None:
    credentials = boto3.Session(
        profile_name={{ (sagemaker.profile or none) | python }}, region_name={{ sagemaker.region | python }}
    )
    session = Session(credentials)
    estimator = PyTorch(
        entry_point="train.py",
        source_dir=".",
        base_job_name={{ launch.job | python }},
        role={{ sagemaker.iam_role_name | python }},
        sagemaker_session=session,
        instance_type={{ sagemaker.ec2_instance_type | python }},
        instance_count={{ sagemaker.num_machines if sagemaker.distributed_type != "NO" else 1 }},
        #: slot estimator
        # uploaded while the job runs, downloaded when it starts: a new run needs a new path
        checkpoint_s3_uri=f"s3://{session.default_bucket()}/{{ launch.job }}/latest",
        hyperparameters={"output-dir": "/opt/ml/checkpoints", "resume": "auto"} | flags,
    )
    #: region fit
    estimator.fit()
    #: end fit


if __name__ == "__main__":
    names, values = sys.argv[1::2], sys.argv[2::2]
    if len(names) != len(values):
        raise SystemExit("Each flag needs a value: --epochs 5.")
    main({name.removeprefix("--"): value for name, value in zip(names, values, strict=True)})
#: end file

import csv
from pathlib import Path

#: slot estimator when image_uri=given
image_uri={{ sagemaker.image_uri | python }},

#: slot estimator when image_uri=empty
framework_version={{ sagemaker.pytorch_version | python }},
py_version={{ sagemaker.py_version | python }},

#: slot estimator when distributed_type=DATA_PARALLEL
distribution={"torch_distributed": {"enabled": True}},  # one process per GPU

#: slot functions when sagemaker_inputs_file=given
def read_channels(path: Path) -> dict[str, str]:
    """The location of each channel's data. The job finds it in /opt/ml/input/data/CHANNEL."""
    with path.open(newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {row["channel_name"]: row["data_location"] for row in rows}

#: replace fit when sagemaker_inputs_file=given
estimator.fit(read_channels(Path({{ sagemaker.sagemaker_inputs_file | python }})))

#: slot functions when sagemaker_metrics_file=given
def read_metrics(path: Path) -> list[dict[str, str]]:
    """The metrics that SageMaker finds in the log."""
    with path.open(newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [{"Name": row["metric_name"], "Regex": row["metric_regex"]} for row in rows]

#: slot estimator when sagemaker_metrics_file=given
metric_definitions=read_metrics(Path({{ sagemaker.sagemaker_metrics_file | python }})),
