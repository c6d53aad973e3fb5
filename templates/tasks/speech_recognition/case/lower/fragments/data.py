#: slot changed
text = text.lower()
