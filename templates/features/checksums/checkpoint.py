from integrity import flush, is_intact, write_checksums

#: slot before_rename
write_checksums(scratch)

#: slot after_rename
flush(folder)

#: replace intact
for found in reversed(find_checkpoints(path) or [path]):
    if is_intact(found):
        return found
