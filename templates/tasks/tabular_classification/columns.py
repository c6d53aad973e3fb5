#: slot columns_fields when path=given
classes: list[str]  # a label is an index into this list
