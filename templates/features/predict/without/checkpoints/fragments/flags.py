from environment import read_settings

#: slot functions
def saved_flags(config_class, folder) -> list[str]:
    """The settings of a run as flags, without its folder."""
    saved, flags = read_settings(folder), []
    for field in fields(config_class):
        if field.name in saved and field.name != "output_dir":
            flag, value = field.name.replace("_", "-"), saved[field.name]
            switch = f"--{flag}" if value else f"--no-{flag}"
            flags.append(switch if field.type is bool else f"--{flag}={value}")
    return flags
