#: slot before_resume
if resume == "auto":  # of jobs that are restarted automatically
    found = [path for path in found if is_trial(path) == (config.limit_batches > 0)]
    resume = "newest" if found else ""
