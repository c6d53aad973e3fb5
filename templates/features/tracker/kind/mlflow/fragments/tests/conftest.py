import tempfile

#: slot environment
os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{tempfile.mkdtemp()}/mlflow.db"
os.environ["MLFLOW_NESTED_RUN"] = "true"  # a test that stops in the middle leaves its run open
