from glob import escape, glob

#: slot arguments
, resumed: Path | None = None

#: slot resumed
if resumed and any(map(resumed.samefile, find_in_runs(output_dir, resumed.name))):
    return resumed.parent  # a resumed run continues in its folder

#: slot functions
def find_in_runs(output_dir: Path, name: str) -> list[Path]:
    """What has this name, which may contain wildcards, in the folder of any run."""
    has_time(output_dir)  # refuses a wrong name
    folders = escape(str(output_dir)).replace("{time}", "????-??-??_??-??-??")
    return [Path(path) for path in glob(f"{folders}/{name}")]
