from integrity import is_intact, write_checksums

#: replace flush
write_checksums(scratch)

#: replace intact
if is_intact(found):
    return found
