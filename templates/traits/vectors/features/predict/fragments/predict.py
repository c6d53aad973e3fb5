import json
import numpy as np

#: slot write
if arguments.npy:
    np.save(arguments.npy, np.array([row["vector"] for row in rows], dtype=np.float32))
else:
    print(*map(json.dumps, rows), sep="\n")
