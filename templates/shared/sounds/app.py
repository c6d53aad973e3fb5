#: with sounds
import os
from pathlib import Path

#: slot row
if None in values:
    raise SystemExit("Choose a sound first.")
[row] = predict(config, model, [Path(values[0])])

#: slot inputs
inputs = gr.Audio(type="filepath", label="sound")

#: replace raised
folder = Path(values[0] or "").parent  # where the page stores uploads
raise gr.Error(str(error).replace(f"{folder}{os.sep}", ""), print_exception=False) from error
