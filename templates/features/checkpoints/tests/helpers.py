from config import find_resumed

#: slot settings
"keep_checkpoints": 0,

#: slot run
if changes.get("resume") == "newest":
    changes["resume"] = str(find_resumed("newest", folder))
