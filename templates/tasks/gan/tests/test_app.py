#: slot values
values = [3]

#: slot expected
assert shown.width > 2 * shown.height, "three images next to each other"
