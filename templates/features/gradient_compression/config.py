#: slot functions
def check_compression(accelerator, precision: str) -> None:
    """Stop if the processes can't exchange gradients in this precision."""
    if precision == "bf16" and accelerator.num_processes > 1 and accelerator.device.type == "cpu":
        raise SystemExit("The CPU can't exchange bf16: use --gradient-compression fp16.")
