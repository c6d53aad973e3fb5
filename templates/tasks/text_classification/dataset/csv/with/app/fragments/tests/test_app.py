#: replace texts
values = ["a text"] * len(config.text_columns.split(","))
inputs = [tuple(values)]
