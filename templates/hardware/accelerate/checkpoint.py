#: slot before_resume when launcher=pytorchjob|sagemaker|slurm|trainjob
if config.resume == "auto":  # for jobs that restart automatically
    folder, trial = config.output_dir, config.limit_batches > 0
    if not find_checkpoints(folder) or is_trial(folder) != trial:
        return None

#: replace resumed when launcher=pytorchjob|sagemaker|slurm|trainjob
newest = config.resume in ("auto", "newest")
path = config.output_dir if newest else Path(config.resume).absolute()

#: slot found_results when launcher=pytorchjob|sagemaker|slurm|trainjob
if self.config.resume == "auto" and results == [folder / "best.safetensors"]:
    results = []  # a job that ended before its first checkpoint starts over

#: slot saved_by_all when launcher=pytorchjob|sagemaker|slurm|torchrun|trainjob
if len(list(scratch.glob("random_states_*"))) < self.accelerator.num_processes:
    raise SystemExit(f"{folder} must be on a disk that all processes share.")
