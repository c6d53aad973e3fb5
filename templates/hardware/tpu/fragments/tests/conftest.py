#: slot environment
os.environ["USE_TORCH_XLA"] = "false"  # or Accelerate would use the TPU
