"""A page in the browser that shows predictions: `python app.py` prints its address."""

import argparse
import os
from functools import partial
from pathlib import Path

import gradio as gr

from config import Config
from predict import load, predict


def answer(config: Config, model, *values):
    """What the page shows for its inputs: the prediction, or what is wrong with them."""
    try:
        if None in values:
            raise SystemExit("Choose an image first.")
        [row] = predict(config, model, [*values])
    except SystemExit as error:
        folder = Path(values[0] or "").parent  # where the page stores uploads
        raise gr.Error(
            str(error).replace(f"{folder}{os.sep}", ""), print_exception=False
        ) from error
    return {name[2:]: prob for name, prob in row.items() if name.startswith("p_")}


def build_page(config: Config, model) -> gr.Interface:
    """An input on the left, and the prediction on the right."""
    inputs = gr.Image(type="filepath", image_mode=None, label="image")  # the file as it is
    outputs = gr.Label(num_top_classes=10, label="class")
    return gr.Interface(
        partial(answer, config, model),
        inputs,
        outputs,
        title="everything",
        flagging_mode="never",
        analytics_enabled=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    parser.add_argument("--port", type=int, help="default: the first free port from 7860")
    arguments = parser.parse_args()
    page = build_page(*load(arguments.run))
    try:
        page.launch(server_port=arguments.port, share=False)
    except OSError as error:  # no free port
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
