#: slot columns_fields
classes: list[str]  # a label is an index into this list
