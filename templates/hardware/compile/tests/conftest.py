#: slot environment
os.environ["TORCHDYNAMO_DISABLE"] = "1"  # compiling each run would be slow
