#: slot values
#: region values
values = [3]
#: end values

#: slot expected
assert shown.width > 2 * shown.height, "three images next to each other"

#: replace values when condition=classes
values = [3, 1]
