import tempfile

#: slot environment when kind=wandb
os.environ["WANDB_MODE"] = "disabled"

#: slot environment when kind=mlflow
os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{tempfile.mkdtemp()}/mlflow.db"
os.environ["MLFLOW_NESTED_RUN"] = "true"  # a test that stops in the middle leaves its run open

#: slot environment when kind=trackio
os.environ["TRACKIO_DIR"] = tempfile.mkdtemp()

#: slot environment when also=wandb
os.environ["WANDB_MODE"] = "disabled"

#: slot environment when also=mlflow
os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{tempfile.mkdtemp()}/mlflow.db"
os.environ["MLFLOW_NESTED_RUN"] = "true"  # a test that stops in the middle leaves its run open

#: slot environment when also=trackio
os.environ["TRACKIO_DIR"] = tempfile.mkdtemp()

