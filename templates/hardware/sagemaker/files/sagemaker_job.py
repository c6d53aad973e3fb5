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
