import os
from pathlib import Path

#: slot inputs
inputs = gr.Audio(type="filepath", label="sound")

#: replace raised
folder = Path(values[0] or "").parent  # where the page keeps what it was given
raise gr.Error(str(error).replace(f"{folder}{os.sep}", ""), print_exception=False) from error
