#: replace values
values = [3, 1]
