#: slot flags
if field.name == "resume":
    settings |= {"nargs": "?", "const": "newest", "metavar": "PATH"}
