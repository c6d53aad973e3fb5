from glob import escape, glob

#: slot functions
def find_in_runs(output_dir: Path, name: str) -> list[Path]:
    """The files with this name in the folders of all runs. The name may contain wildcards."""
    has_time(output_dir)  # refuses a wrong name
    folders = escape(str(output_dir)).replace("{time}", "????-??-??_??-??-??")
    return [Path(path) for path in glob(f"{folders}/{name}")]
