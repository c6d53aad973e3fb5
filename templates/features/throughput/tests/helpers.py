#: slot times
log = re.sub(r"speed .*\n", "", log)
