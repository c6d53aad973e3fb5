from environment import is_trial

#: slot before_resume
if config.resume == "auto":  # for jobs that restart automatically
    found = find_checkpoints(config.output_dir)
    if not found or is_trial(found[-1]) != (config.limit_batches > 0):
        return None

#: replace resumed
newest = config.resume in ("auto", "newest")
path = config.output_dir if newest else Path(config.resume).absolute()

#: slot found_results
if self.config.resume == "auto" and results == [folder / "best.safetensors"]:
    results = []  # a job that ended before its first checkpoint starts over
