#: replace before_resume when launcher=pytorchjob|sagemaker|slurm|trainjob
if given.resume == "auto":  # for jobs that start again
    given.output_dir = given.output_dir or Config.output_dir
    given.resume = "newest" if find_checkpoints(given.output_dir) else None
    trial = given.resume and load_config(find_checkpoints(given.output_dir)[-1]).limit_batches
    if trial and not any(flag.replace("_", "-").startswith("--limit-batches") for flag in flags):
        raise SystemExit(f"{given.output_dir} holds a trial run: delete it, or use another --output-dir.")

#: replace output_dir when launcher=pytorchjob|sagemaker|slurm|trainjob
output_dir: Path = Path("runs/latest")  # folder of the run: a restarted job finds it again
