from integrity import flush, is_intact, write_checksums

#: slot before_resume
for damaged in find_checkpoints(folder):
    if not is_intact(damaged):
        damaged.rename(damaged.with_suffix(".damaged"))

#: replace write_digests
write_checksums(scratch)

#: slot after_rename
flush(folder.parent)

#: replace check_digests

#: replace digest_functions
