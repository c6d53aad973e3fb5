from integrity import compute_digests, flush, is_intact

#: slot before_resume
for damaged in find_checkpoints(folder):
    if not is_intact(damaged):
        damaged.rename(damaged.with_suffix(".damaged"))

#: slot before_rename
flush(scratch)

#: replace check_digests

#: replace digest_functions
