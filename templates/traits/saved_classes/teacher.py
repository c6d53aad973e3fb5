import json

from data import class_names

#: slot check_classes
path, names = folder / "classes.json", class_names(config)
if path.exists() and (classes := json.loads(path.read_text())) != names:
    raise SystemExit(
        f"The teacher {folder} has the classes {', '.join(classes)}, and the data "
        f"{', '.join(names)}: train the teacher with the same classes."
    )
