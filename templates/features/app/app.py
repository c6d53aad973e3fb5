#: file
"""A page in the browser that shows predictions: `python app.py` prints its address."""

import argparse
from functools import partial

import gradio as gr
from predict import load, predict
from config import Config

def answer(config: Config, model, *values):
    """What the page shows for its inputs: the prediction, or what is wrong with them."""
    try:
        ...  #: slot row
    except SystemExit as error:
        #: region raised
        raise gr.Error(str(error), print_exception=False) from error
        #: end raised
    ...  #: slot shown


def build_page(config: Config, model) -> gr.Interface:
    """An input on the left, and the prediction on the right."""
    ...  #: slot inputs
    ...  #: slot outputs
    return gr.Interface(
        partial(answer, config, model),
        inputs,
        outputs,
        title={{ project.name | python }},
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
#: end file

#: slot shown with labels
return {name[2:]: prob for name, prob in row.items() if name.startswith("p_")}

#: slot outputs with labels
outputs = gr.Label(num_top_classes=10, label="class")

#: slot shown with many_labels
return {name[2:]: prob for name, prob in row.items() if name.startswith("p_")}

#: slot outputs with many_labels
outputs = gr.Label(num_top_classes=10, label="labels")

#: slot shown with numbers
return row["prediction"]

#: slot outputs with numbers
outputs = gr.Number(label="prediction")
