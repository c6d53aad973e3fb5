#: replace output_dir
output_dir: Path = Path("runs/{time}")  # folder for metrics, weights and checkpoints
