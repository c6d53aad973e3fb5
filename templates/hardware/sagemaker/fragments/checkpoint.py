from environment import read_settings

#: slot before_resume
if config.resume == "auto":  # for jobs that restart automatically
    found = find_checkpoints(config.output_dir)
    trial = config.limit_batches > 0
    if not found or (read_settings(found[-1]).get("limit_batches", 0) > 0) != trial:
        return None

#: replace resumed
newest = config.resume in ("auto", "newest")
path = config.output_dir if newest else Path(config.resume).absolute()

#: slot found_results
if self.config.resume == "auto" and results == [folder / "best.safetensors"]:
    results = []  # a job that ended before its first checkpoint starts over
