import re
import sys

from accelerate import PartialState

#: slot load_sentences
def check_sentence(words: list, tags: list, place: str) -> Sentence:
    """The words and tags of a row. `place` is for error messages."""
    for values, what in ((words, "words"), (tags, "tags")):
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise SystemExit(f"{place}: its {what} are not a list of texts, but {values!r:.60}.")
    if len(words) != len(tags):
        raise SystemExit(f"{place}: it has {len(words)} words and {len(tags)} tags.")
    for tag in tags:
        if not re.fullmatch("O|[BI]-.+", tag):
            raise SystemExit(
                f"{place}: the tag {tag!r} is not an IOB2 tag. Use O outside entities, and "
                "B-TYPE and I-TYPE for the first and the other words of one."
            )
    return words, tags


def begin_entities(sentences: list[Sentence], source: str) -> list[Sentence]:
    """The sentences that have words, in IOB2.

    In IOB1, an entity begins with B- only if it follows another one of its type. The files of
    CoNLL-2003 are written like this: Sang and De Meulder 2003, https://aclanthology.org/W03-0419
    """
    changed = 0
    for _, tags in sentences:
        for place, tag in enumerate(tags):
            before = tags[place - 1] if place else "O"
            if tag.startswith("I-") and before[2:] != tag[2:]:
                tags[place] = f"B-{tag[2:]}"
                changed += 1
    if changed and PartialState().is_main_process:
        print(f"{source}: {changed} entities begin with I-, read as B- (IOB1)", file=sys.stderr)
    return [(words, tags) for words, tags in sentences if words]
