from environment import is_trial

#: slot before_resume
if resume == "auto":  # for jobs that restart automatically
    found = [path for path in found if is_trial(path) == (config.limit_batches > 0)]
    resume = "newest" if found else ""
