#: replace damage
