#: slot before_resume
if resume == "auto":  # of jobs that are restarted automatically
    resume = "newest" if found else ""
