#: replace columns
columns = [list(column) for column in zip(*texts, strict=True)]
if len(columns) > 1:  # cutting two long texts takes memory for the product of their lengths
    most = 20 * max_length  # characters: a token has far fewer than 20
    columns = [[text[:most] for text in column] for column in columns]
