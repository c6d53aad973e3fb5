#: replace output_dir
output_dir: Path = Path("runs/{time}")  # metrics, weights and checkpoints
