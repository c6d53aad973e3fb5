#: slot before_resume
if resume == "auto":  # what is started again by itself
    resume = "newest" if found else ""
