"""scaffold.toml with other answers in it, however its owner has written it."""

import random
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.read import flatten, read_answers
from scaffold.answers.resolve import Answers, applies, is_on, resolve
from scaffold.answers.rewrite import rewrite_settings
from scaffold.answers.settings import toml_literal, write_all_settings, write_settings
from scaffold.errors import AnswerError, ScaffoldError
from support.combinations import in_turns

CATALOG = load_catalog()
OPTIONS = CATALOG.settings


def complete(**answers: Value) -> Answers:
    changes = {key.replace("__", "."): value for key, value in answers.items()}
    return resolve(CATALOG, {"project.name": "net", **changes})


DEFAULT = complete()
EMA = complete(features__ema__decay=0.9)
WSD = complete(features__schedule__kind="wsd", features__schedule__decay=0.3)


def effective(answers: Mapping[str, Value]) -> Answers:
    return {
        key: answers[key] for key, option in OPTIONS.items() if applies(CATALOG, option, answers)
    }


def read(text: str, folder: Path) -> Answers:
    path = folder / "read.toml"
    path.write_bytes(text.encode())
    return read_answers(CATALOG, path)


def assert_holds(text: str, answers: Mapping[str, Value], folder: Path) -> None:
    """The text says these answers, and nothing that would be refused beside them."""
    found = read(text, folder)
    expected = effective(answers)
    assert {key: expected[key] for key in found if key in expected} == {
        key: value for key, value in found.items() if key in expected
    }
    assert effective(resolve(CATALOG, found)) == effective(answers)


def changed(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that are only in one of two texts."""
    one, two = before.split("\n"), after.split("\n")
    return [x for x in one if x not in two], [x for x in two if x not in one]


def test_a_new_file_says_what_is_on_and_what_differs(tmp_path: Path) -> None:
    given = {"training.epochs": 7, "hardware.num_processes": 2, "features.ema.enabled": True}
    answers = resolve(CATALOG, {"project.name": "net", **given})
    text = write_settings(CATALOG, answers)
    rows = dict(flatten(CATALOG, tomllib.loads(text)))
    on = {f.switch_key for f in CATALOG.features.values() if is_on(f, answers) and not f.switch}
    assert on == {key for key in rows if key.startswith("features.")} and len(on) >= 5
    assert rows.keys() - on == {
        *("project.name", "project.task", "training.epochs"),
        *("hardware.distributed_type", "hardware.num_processes"),
    }
    assert_holds(text, answers, tmp_path)
    command = re.findall(r"`scaffold (features .*)`", text)
    assert command == ["features --kind settings --task image_classification"]
    assert len(write_settings(CATALOG, DEFAULT).splitlines()) < 30


def test_a_file_without_a_feature_says_so(tmp_path: Path) -> None:
    off = {feature.switch_key: feature.off for feature in CATALOG.features.values()}
    answers = resolve(CATALOG, {"project.name": "net", **off})
    text = write_settings(CATALOG, answers)
    assert text.endswith("\n[features]\n")
    assert_holds(text, answers, tmp_path)
    there = rewrite_settings(CATALOG, f"# mine\n{text}", DEFAULT, answers)
    assert_holds(there, DEFAULT, tmp_path)
    assert_holds(rewrite_settings(CATALOG, there, answers, DEFAULT), answers, tmp_path)


def test_a_file_of_an_older_version_that_nobody_edited_is_written_as_new() -> None:
    rendered = write_all_settings(CATALOG, DEFAULT).replace("# weight decay", "# an older comment")
    rendered = rendered.replace("log_every", "log_often")
    new = rewrite_settings(CATALOG, rendered, EMA, DEFAULT, rendered)
    assert new == write_settings(CATALOG, EMA)


def test_values_change_in_their_rows_and_all_else_stays() -> None:
    old = write_all_settings(CATALOG, DEFAULT)
    old = re.sub(r"epochs = 20 .*", "epochs   =  20\t# as long as the GPU is mine", old)
    old = old.replace("[hardware]", "# the box under the desk\n[ hardware ] # here\n# and there")
    old = old.replace('mixed_precision = "no"', "mixed_precision = 'no'") + "# the end"
    new = rewrite_settings(
        CATALOG, old, complete(training__epochs=7, hardware__mixed_precision="bf16"), DEFAULT
    )
    gone, added = changed(old, new)
    assert gone == [
        "mixed_precision = 'no'  # precision of the computations: no, bf16, fp16, fp8",
        "epochs   =  20\t# as long as the GPU is mine",
    ]
    assert added == [
        'mixed_precision = "bf16"  # precision of the computations: no, bf16, fp16, fp8',
        "epochs   =  7\t# as long as the GPU is mine",
    ]


def test_a_row_with_a_comment_of_its_owner_outlives_its_feature(tmp_path: Path) -> None:
    row = "decay = 0.95  # from the paper"
    old = re.sub("decay = 0.9 .*", row, write_settings(CATALOG, EMA))
    assert row in old
    off = complete(features__ema__decay=0.95, features__ema__enabled=False)
    new = rewrite_settings(CATALOG, old, off, EMA)
    assert f"\n{row}\n" in new
    assert_holds(new, off, tmp_path)
    back = rewrite_settings(CATALOG, new, EMA, off)
    assert "decay = 0.9  # from the paper\n" in back and back.count("from the paper") == 1


def test_a_row_that_would_be_refused_becomes_a_comment(tmp_path: Path) -> None:
    old = re.sub("decay = 0.3 .*", "decay = 0.3  # from the paper", write_settings(CATALOG, WSD))
    new = rewrite_settings(CATALOG, old, DEFAULT, WSD)
    assert "\n# decay = 0.3  # from the paper\n" in new
    assert_holds(new, DEFAULT, tmp_path)


def test_settings_that_are_gone_are_dropped() -> None:
    rendered = write_all_settings(CATALOG, DEFAULT)
    rendered = rendered.replace("seed = 0", "warp = 9  # a factor\nseed = 0")
    rendered = rendered.replace(
        "[features.ema]", "[features.gone]\nenabled = true\n\n[features.ema]"
    )
    old = rendered.replace("# a factor", "# my factor").replace("epochs = 20", "epochs = 21")
    answers = complete(training__epochs=21)
    new = rewrite_settings(CATALOG, old, answers, {**DEFAULT, "training.warp": 9}, rendered)
    expected = write_all_settings(CATALOG, answers)
    assert new == expected.replace("seed = 0", "# warp = 9  # my factor\nseed = 0")


def test_a_comment_of_ours_is_that_of_this_version() -> None:
    written = write_all_settings(CATALOG, DEFAULT)
    rendered = written.replace("# weight decay", "# an older comment")
    old = rendered.replace("[training]", "[training]  # mine")
    assert old != written.replace("[training]", "[training]  # mine")
    new = rewrite_settings(CATALOG, old, DEFAULT, DEFAULT, rendered)
    assert new == written.replace("[training]", "[training]  # mine")


def test_a_setting_that_is_new_and_differs_is_added() -> None:
    answers = complete(training__seed=3, training__epochs=5, features__ema__enabled=True)
    new = write_settings(CATALOG, answers)
    rendered = re.sub(r"seed = .*\n", "", new)
    rendered = re.sub(r"\[features.ema\]\n.*\n\n", "", rendered)
    assert rendered.count("\n") == new.count("\n") - 4
    previous = {
        k: v for k, v in DEFAULT.items() if k not in ("training.seed", "features.ema.enabled")
    }
    old = rendered + "# mine\n"
    assert rewrite_settings(CATALOG, old, answers, previous, rendered) == new + "# mine\n"


def test_a_feature_whose_table_the_owner_took_out_is_not_brought_back(tmp_path: Path) -> None:
    old = re.sub(r"\[features.clipping\]\n(.+\n)+\n", "", write_settings(CATALOG, DEFAULT))
    assert "clipping" not in old
    answers = complete(features__clipping__enabled=False, training__epochs=3)
    new = rewrite_settings(CATALOG, old, answers, DEFAULT)
    assert new == write_settings(CATALOG, answers)
    assert_holds(new, answers, tmp_path)


def test_a_table_outside_of_features_is_brought_back() -> None:
    sharded = complete(hardware__sharding="fsdp", fsdp__reshard_after_forward=False)
    written = write_settings(CATALOG, sharded)
    old = re.sub(r"\[fsdp\]\n(.+\n)+\n", "", written)
    assert "[fsdp]" in written and "[fsdp]" not in old
    assert rewrite_settings(CATALOG, old, sharded, sharded) == written


def test_a_row_that_says_a_default_stays_if_its_owner_wrote_it(tmp_path: Path) -> None:
    old = write_settings(CATALOG, EMA).replace(
        "[features.checkpoints]", "[training]\nepochs = 20\nseed = 0\n\n[features.checkpoints]"
    )
    new = rewrite_settings(CATALOG, old, DEFAULT, EMA)
    assert "[training]\nepochs = 20\nseed = 0\n" in new and "[features.ema]" not in new
    assert_holds(new, DEFAULT, tmp_path)


SHORT = {
    "[features]\nema = true  # mine": "ema = { enabled = true, decay = 0.9 }  # mine",
    "[features]\nema = {enabled = true}": "ema = { enabled = true, decay = 0.9 }",
    "[features]\nema.enabled = true": "ema.enabled = true\nema.decay = 0.9  # ",
    "features.ema = true\n": "features.ema = { enabled = true, decay = 0.9 }\n",
    "features.ema.enabled = true\n": "features.ema.enabled = true\nfeatures.ema.decay = 0.9  # ",
    "features = {ema = true}": ", ema = { enabled = true, decay = 0.9 }, ",
    "[features.ema]": "[features.ema]\nenabled = true  # ",
    "[features.ema]\ndecay = 0.99": "[features.ema]\nenabled = true  # ",
    "[features]\nschedule = 'cosine'\nema=true": "schedule = { enabled = true }",
    "training = {epochs=3}\n[features]\nema=true": "training = { epochs = 20 }",
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("old", SHORT)
def test_what_is_missing_is_added_in_the_owners_way(old: str, newline: str, tmp_path: Path) -> None:
    new = rewrite_settings(CATALOG, f"{old}\n".replace("\n", newline), EMA, DEFAULT)
    assert SHORT[old].replace("\n", newline) in new
    assert_holds(new, EMA, tmp_path)
    off = rewrite_settings(CATALOG, new, DEFAULT, EMA)
    assert_holds(off, DEFAULT, tmp_path)
    assert rewrite_settings(CATALOG, new, EMA, EMA) == new, "it is done"
    if newline == "\r\n" and "\r" in new:
        assert new.count("\r\n") == new.count("\n")


def test_what_an_owner_wrote_beside_a_feature_that_is_gone_stays(tmp_path: Path) -> None:
    old = (
        "[features.ema]\nenabled = true\n\n"
        "[features.gone]  # mine, too\nspeed = 1\n# a note\nways = '''a\nb'''  # mine\n\n"
        "[features.clipping]\nenabled = true\n"
    )
    new = rewrite_settings(CATALOG, old, EMA, EMA)
    kept = "# [features.gone]  # mine, too\n# a note\n# ways = '''a\n# b'''  # mine\n"
    assert f"\n\n{kept}\n[features.clipping]\n" in new
    assert "\n[features]\n" not in new
    assert_holds(new, EMA, tmp_path)


def test_a_row_becomes_a_comment_with_all_of_its_name(tmp_path: Path) -> None:
    old = "[features]\nschedule.kind = 'wsd'\nschedule.decay = 0.2  # mine\n"
    new = rewrite_settings(CATALOG, old, DEFAULT, WSD)
    assert "\n# schedule.decay = 0.2  # mine\n" in new
    assert_holds(new, DEFAULT, tmp_path)


@pytest.mark.parametrize(
    "old", ["", "# mine\n\n", "[project]\n# of the next\n[training]\n", "[hardware]\n# mine"]
)
def test_tables_are_added_in_the_order_in_which_they_are_written(old: str, tmp_path: Path) -> None:
    new = rewrite_settings(CATALOG, old, EMA, DEFAULT)
    written = re.findall(r"^\[.+\]", write_settings(CATALOG, EMA), flags=re.MULTILINE)
    found = re.findall(r"^\[.+\]", new, flags=re.MULTILINE)
    assert [table for table in found if table in written] == written
    assert "# of the next\n[training]\n" in new or "next" not in old
    assert new.count("mine") == old.count("mine")
    assert_holds(new, EMA, tmp_path)


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("[[features]]\nema = true\n", "Write each setting on a line of its own"),
        ("[training\n", "is not valid TOML"),
    ],
)
def test_lists_of_tables_and_other_texts_are_refused(old: str, said: str) -> None:
    with pytest.raises(ScaffoldError, match=said):
        rewrite_settings(CATALOG, old, EMA, DEFAULT)


def value_of(key: str, draw: random.Random) -> Value:
    option = OPTIONS[key]
    if option.type == "bool":
        return draw.random() < 0.5
    if option.type == "choice":
        return draw.choice([choice.value for choice in option.choices])
    if option.type == "int":
        return draw.randint(1, 50)
    if option.type == "float":
        return draw.choice([0.1, 0.25, 0.5])
    return draw.choice(["net", "other_net"])


def any_answers(draw: random.Random) -> Answers:
    answers: Answers = {"project.name": "net"}
    for key in draw.sample(list(OPTIONS), draw.randint(0, 12)):
        more = {**answers, key: value_of(key, draw)}
        try:
            resolve(CATALOG, more)
        except AnswerError:
            continue
        answers = more
    return resolve(CATALOG, answers)


def owners_file(answers: Mapping[str, Value], draw: random.Random) -> str:
    """A file with these answers as somebody might write it."""
    tables: dict[str, list[tuple[str, Value]]] = {}
    for key, value in effective(answers).items():
        table, _, name = key.rpartition(".")
        tables.setdefault(table, []).append((name, value))
    root: list[str] = []
    blocks: list[list[str]] = []
    short: list[str] = []
    way = draw.choice(["tables", "tables", "[features]", "features.", "features = {}"])
    everything: list[str] = []
    needed = {
        f"features.{name}"
        for feature in CATALOG.features.values()
        for name in (feature.requires if is_on(feature, answers) else ())
    }
    for table, rows in tables.items():
        if draw.random() < 0.3:
            draw.shuffle(rows)
        if draw.random() < 0.3 and not table.startswith("features"):
            rows = rows[: draw.randrange(len(rows) + 1)]
        if draw.random() < 0.1 and table not in needed:
            continue
        name = table.removeprefix("features.")
        inline = f"{{{', '.join(f'{k} = {toml_literal(v)}' for k, v in rows)}}}"
        on = dict(rows).get("enabled")
        if on is not None and name != table and draw.random() < 0.3:
            inline = toml_literal(on)
        if name != table and way == "features = {}":
            everything.append(f"{name} = {inline}")
        elif name != table and way != "tables":
            into, prefix = (short, name) if way == "[features]" else (root, table)
            if draw.random() < 0.5:
                into.append(f"{prefix} = {inline}{comment(draw)}")
            elif rows:
                into += [f"{prefix}.{k} = {toml_literal(v)}{comment(draw)}" for k, v in rows]
        elif name == table and draw.random() < 0.15:
            root.append(f"{table} = {inline}{comment(draw)}")
        elif name == table and draw.random() < 0.15:
            root += [f'"{table}" . {k} = {toml_literal(v)}{comment(draw)}' for k, v in rows]
        else:
            lines = [f"{' ' * draw.choice([0, 0, 2])}[{table}]{comment(draw)}"]
            for k, v in rows:
                lines += ["# # a = '#' [x]"] * (draw.random() < 0.1) + [""] * (draw.random() < 0.1)
                lines.append(
                    f"{' ' * draw.choice([0, 0, 2])}{k} = {literal(v, draw)}{comment(draw)}"
                )
            blocks.append(lines)
    if short:
        blocks.append(["[features]", *short])
    if everything:
        root.append(f"features = {{{', '.join(everything)}}}")
    draw.shuffle(root)
    if draw.random() < 0.5:
        draw.shuffle(blocks)
    lines = ["# mine"] * (draw.random() < 0.5) + root
    for block in blocks:
        lines += ["# of the next"] * (draw.random() < 0.2) + block + [""] * draw.randrange(3)
    newline = draw.choice(["\n", "\n", "\r\n"])
    return newline.join(lines) + newline * (draw.random() < 0.8)


def comment(draw: random.Random) -> str:
    return draw.choice(["", "", "  # mine", "\t#\"]='", "#"])


def literal(value: Value, draw: random.Random) -> str:
    if isinstance(value, str) and draw.random() < 0.3:
        return draw.choice([f"'{value}'", f'"""{value}"""', f"'{value}'"])
    if isinstance(value, float) and draw.random() < 0.3:
        return f"{value:e}"
    return toml_literal(value)


SEEDS = range(30)


@pytest.mark.parametrize(
    "seed", [*SEEDS[:8], *(pytest.param(n, marks=pytest.mark.sweep) for n in range(8, 400))]
)
def test_any_answers_go_into_any_file(tmp_path: Path, seed: int) -> None:
    draw, folder = random.Random(seed), tmp_path
    before, after = any_answers(draw), any_answers(draw)
    old = owners_file(before, draw)
    read(old, folder)
    new = rewrite_settings(CATALOG, old, after, before)
    assert_holds(new, after, folder)
    assert rewrite_settings(CATALOG, new, after, after) == new
    again = rewrite_settings(CATALOG, new, before, after)
    assert_holds(again, before, folder)
    for word in ("# of the next", "# # a = '#' [x]"):
        assert new.count(word) == old.count(word)
    assert new.count("mine") == old.count("mine") == again.count("mine")


def test_the_files_above_are_of_all_kinds() -> None:
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        draw = random.Random(seed)
        before, after = any_answers(draw), any_answers(draw)
        old = owners_file(before, draw)
        seen["changed"] += effective(before) != effective(after)
        seen.update(what for what in ("\r\n", "{", "[features]", "  [", "# mine") if what in old)
    assert len(seen) == 6
    assert min(seen.values()) >= len(SEEDS) // 10, seen


@pytest.mark.parametrize("seed", in_turns(range(40), 14))
def test_only_values_edited_becomes_what_would_be_written(seed: int, tmp_path: Path) -> None:
    """However a file was edited: if it looks as we write it, it goes on to do so."""
    draw = random.Random(seed)
    previous, edited, after = any_answers(draw), any_answers(draw), any_answers(draw)
    old, new = write_settings(CATALOG, edited), write_settings(CATALOG, after)
    assert_holds(new, after, tmp_path)
    assert rewrite_settings(CATALOG, old, after, edited) == new
    assert_holds(rewrite_settings(CATALOG, old, after, previous), after, tmp_path)
    commented = "# mine\n" + old.replace("[training]", "[training]  # mine")
    there = rewrite_settings(CATALOG, commented, after, edited)
    assert rewrite_settings(CATALOG, there, edited, after) == commented


@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 40), marks=pytest.mark.sweep)], ids=["1", "39"]
)
def test_another_task_leaves_no_feature_on_that_does_not_go_with_it(
    seeds: range, tmp_path: Path
) -> None:
    autoencoder = complete(project__task="autoencoder")
    written = 0
    for seed in seeds:
        for before in (DEFAULT, complete(features__balanced_sampling__enabled=True)):
            old = owners_file(before, random.Random(seed))
            new = rewrite_settings(CATALOG, old, autoencoder, before)
            assert_holds(new, autoencoder, tmp_path)
            assert_holds(rewrite_settings(CATALOG, new, before, autoencoder), before, tmp_path)
            assert new.count("mine") == old.count("mine")
            written += 1
    assert written == 2 * len(seeds)
