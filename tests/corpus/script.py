"""The steps of `edit.py` in train.py, unless another file is named as `path`."""

from collections.abc import Callable

from corpus import edit
from corpus.edit import TRAIN, Apply


def _in_train(step: Callable[..., Apply]) -> Callable[..., Apply]:
    return lambda *given, path=TRAIN, **named: step(path, *given, **named)


after, before, replace, delete = map(
    _in_train, (edit.after, edit.before, edit.replace, edit.delete)
)
comment_out, cut, wrap, sub = map(_in_train, (edit.comment_out, edit.cut, edit.wrap, edit.sub))
add_import, define = map(_in_train, (edit.add_import, edit.define))
