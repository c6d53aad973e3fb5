#: slot environment
os.environ["USE_TORCH_XLA"] = "false"  # otherwise Accelerate would use the TPU
