from glob import escape, glob

#: replace choose_folder
def choose_folder(accelerator, output_dir: Path, resumed: Path | None) -> Path:
    """The output folder of a run, the same on all processes. A resumed run keeps its folder."""
    if not has_time(output_dir):
        return output_dir
    if resumed and any(map(resumed.samefile, find_in_runs(output_dir, resumed.name))):
        return resumed.parent
    folder = make_folder(output_dir) if accelerator.is_main_process else None
    return broadcast_object_list([folder])[0]


#: slot functions
def find_in_runs(output_dir: Path, name: str) -> list[Path]:
    """The files with this name in the folders of all runs. The name may contain wildcards."""
    has_time(output_dir)  # refuses a wrong name
    folders = escape(str(output_dir)).replace("{time}", "????-??-??_??-??-??")
    return [Path(path) for path in glob(f"{folders}/{name}")]
