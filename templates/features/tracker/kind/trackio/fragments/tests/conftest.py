import tempfile

#: slot environment
os.environ["TRACKIO_DIR"] = tempfile.mkdtemp()
