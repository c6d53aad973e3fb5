#: replace before_resume when launcher=pytorchjob|sagemaker|slurm|trainjob
if given.resume == "auto":  # for jobs that start again
    given.output_dir = given.output_dir or Config.output_dir
    given.resume = "newest" if find_checkpoints(given.output_dir) else None

#: replace output_dir when launcher=pytorchjob|sagemaker|slurm|trainjob
output_dir: Path = Path("runs/latest")  # folder of the run: a restarted job finds it again
