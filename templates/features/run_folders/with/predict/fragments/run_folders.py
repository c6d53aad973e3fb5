#: slot functions
def newest_run(output_dir: Path) -> Path:
    """The folder itself, or with {time} the newest folder of a finished run."""
    if not has_time(output_dir):
        return output_dir
    found = find_in_runs(output_dir, "model.safetensors")
    if not found:
        raise SystemExit(f"No run in {output_dir} is finished: train first.")
    return max(found).parent
