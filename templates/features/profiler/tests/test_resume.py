#: slot outputs
outputs = {name for name in outputs if not name.startswith("profile")}
