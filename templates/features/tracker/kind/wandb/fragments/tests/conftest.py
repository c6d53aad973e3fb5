#: slot environment
os.environ["WANDB_MODE"] = "disabled"
