import json
import numpy as np

#: slot write
if arguments.npy:
    try:
        np.save(arguments.npy, np.array([row["vector"] for row in rows], dtype=np.float32))
    except OSError as error:
        raise SystemExit(f"{arguments.npy} can't be written: {error}") from error
else:
    print(*map(json.dumps, rows), sep="\n")
