from integrity import is_intact

#: replace intact
for candidate in reversed(found):
    if is_intact(candidate):
        return candidate
