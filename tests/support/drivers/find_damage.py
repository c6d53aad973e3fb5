"""Inside a project: flips a bit of the newest checkpoint in many places, and resumes each time."""

import json
import sys
from pathlib import Path

import checkpoint
import integrity
import train

folder = Path(sys.argv[1])
*_, newest = checkpoint.find_checkpoints(folder)


class Taken(Exception):
    pass


def take(checkpoints, path):
    raise Taken(path.name)


checkpoint.Checkpoints.load = take
for file in sorted(path for path in newest.rglob("*") if path.is_file()):
    content = file.read_bytes()
    for place in (0, len(content) // 3, len(content) // 2, len(content) - 2):
        damaged = bytearray(content)
        damaged[place] ^= 1
        file.write_bytes(damaged)
        integrity.is_intact.cache_clear()
        try:
            train.main(train.Config(output_dir=folder, limit_batches=4, resume="newest"))
        except Taken as taken:
            found = {"file": file.name, "place": place, "taken": str(taken)}
            print(json.dumps(found), flush=True)
        newest.with_suffix(".damaged").rename(newest)
    file.write_bytes(content)
