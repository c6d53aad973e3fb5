import sys
from os.path import isfile
from pathlib import Path

from accelerate.utils import broadcast_object_list

#: slot parameters with generates
, length: int

#: replace call with generates
rows = predict(config, model, inputs, arguments.length)

#: slot inputs when project.task=dpo|embeddings|language_model|masked_language_model|seq2seq|sft|text_classification|token_classification
def read_inputs(config: Config, names: list[str]) -> list[str]:
    #: region described
    """Texts as they are, the lines of .txt files, or those of standard input if the name is -."""
    #: end described
    texts = []
    for name in names:
        try:
            if name == "-":  # which only one process can read
                lines = sys.stdin.read() if PartialState().is_main_process else ""
                texts += split_lines(broadcast_object_list([lines])[0])
            elif name.endswith(".txt"):
                texts += split_lines(Path(name).read_text(encoding="utf-8"))
            #: slot files
            #: region other_files
            elif isfile(name):
                raise SystemExit(f"{name} is not read: name a .txt file with a text in each line.")
            #: end other_files
            else:
                texts.append(name)
        except (OSError, ValueError) as error:
            raise SystemExit(f"{name} can't be read: {error}") from error
    return texts


def split_lines(text: str) -> list[str]:
    """The lines of a text. str.splitlines() would also split at other characters."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")  # from Windows, through a pipe
    return text.removesuffix("\n").split("\n") if text else []

#: slot arguments when project.task=dpo|embeddings|language_model|masked_language_model|seq2seq|sft|text_classification|token_classification
#: region inputs
parser.add_argument("inputs", nargs="+", metavar="TEXT", help="a text, a .txt file of lines, or -")
#: end inputs
