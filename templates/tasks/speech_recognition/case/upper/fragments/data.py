#: slot changed
text = text.upper()
