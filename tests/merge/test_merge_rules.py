"""Each rule of the merge by itself, on a few lines: `scaffold/merge/README.md` says where they are.

Cases on the real templates are in `test_cases.py`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from textwrap import dedent, indent

import pytest

from scaffold.merge.checks.project import find_new_wrongs
from scaffold.merge.conflicts import frame, line_among_markers, take_side
from scaffold.merge.diff.assemble import Assembly, Piece
from scaffold.merge.diff.excerpt import shorten
from scaffold.merge.guards import broken_names
from scaffold.merge.merge import Merged, merge_files
from scaffold.merge.source.notebooks import Cell
from scaffold.merge.source.statement import PYTHON, split
from scaffold.project.pristine import Pristine

STEP = """
def main(loader, model, optimizer):
    for batch in loader:
        loss = model(batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""


def project(base: Mapping[str, str], ours: Mapping[str, str], theirs: Mapping[str, str]) -> Merged:
    pristine = Pristine("", {}, _plain(base))
    return merge_files(pristine, _plain(ours), _plain(theirs), "the update")


def merge(base: str, ours: str, theirs: str, path: str = "train.py") -> Merged:
    return project({path: base}, {path: ours}, {path: theirs})


def _plain(files: Mapping[str, str]) -> dict[str, str]:
    return {path: dedent(text).lstrip("\n") for path, text in files.items()}


def clean(base: str, ours: str, theirs: str, path: str = "train.py") -> str:
    """The merged text of one file, about which nobody is asked."""
    merged = merge(base, ours, theirs, path)
    assert not merged.conflicts and not merged.warnings, merged
    return merged.files[path] or ""


def asked(base: str, ours: str, theirs: str) -> str:
    """Why somebody is asked: the label of the only conflict."""
    merged = merge(base, ours, theirs)
    assert len(merged.conflicts) == 1, merged
    return merged.conflicts[0].label


# the owner's form is followed


def test_hints_that_the_owner_took_out_stay_out() -> None:
    base = (
        "def add(a: int, b: int) -> int:\n    return a + b\n\n\ndef one() -> int:\n    return 1\n"
    )
    ours = base.replace(": int", "").replace(" -> int", "")
    new = "\n\ndef two() -> int:\n    return 2\n"
    assert clean(base, ours, base.replace("return 1", "return 9") + new) == (
        ours.replace("return 1", "return 9") + new
    )


def test_hints_that_an_update_brings_stay_where_there_were_none() -> None:
    base = "def add(a, b):\n    return a + b\n\n\ndef one():\n    return 1\n"
    theirs = base.replace("(a, b)", "(a: int, b: int) -> int")
    text = clean(base, base.replace("return 1", "return 10 - 9"), theirs)
    assert "def add(a: int, b: int) -> int:" in text and "10 - 9" in text


def test_fields_that_both_sides_add_in_two_places_are_one_question() -> None:
    base = "class Config:\n    rate: float = 1.0\n    seed: int = 0\n    clip: float = 1.0\n"
    own = "    patience: int = 3\n    delta: float = 0.0  # mine\n"
    new = "    patience: int = 5\n    delta: float = 0.0  # theirs\n"
    ours = base.replace("    seed", f"{own}    seed")
    text = merge(base, ours, base + new).files["train.py"] or ""
    assert text.count("<<<<<<<") == 1 and take_side(text, True) == ours
    assert take_side(text, False) == base.replace("    seed", f"{new}    seed")
    assert clean(base, base.replace("    seed", f"{new}    seed"), base + new).count("delta") == 1


def test_names_for_arguments_of_what_the_owner_does_not_call_are_left_out() -> None:
    base = "optimizer = AdamW(parameters, rate, weight_decay=0.1)\n"
    ours = base.replace("AdamW", "RMSprop")
    theirs = base.replace("rate", "lr=rate")
    assert clean(base, ours, theirs) == ours
    assert "lr=rate" in clean(base, base.replace("0.1", "0.2"), theirs), "the same function"
    assert asked(base, ours, theirs.replace("lr=rate", "lr=2 * rate")), "another value"


def test_a_setting_that_the_owner_renamed_has_that_name_in_new_code() -> None:
    config = """
        class Config:
            seed: int = 0
            limit_batches: int = 0
    """
    test = 'CASES = {"seed": 1}\n'
    page = "Run `train.py --limit-batches 3`.\n"
    base = {"config.py": config, "tests/test_train.py": test, "README.md": f"{page}\n# End\n"}
    ours = {path: text.replace("limit_batches", "most") for path, text in base.items()}
    ours["README.md"] = base["README.md"].replace("--limit-batches", "--most")
    kept = "def own_run(folder, seed=0, **changes):\n    run(folder, **changes)\n\n\n"
    theirs = {
        "README.md": "# End\n\nTry `--limit-batches 1`.\n",
        "config.py": config,
        "tests/test_new.py": kept + "own_run(1, seed=2, limit_batches=3)\n"
        'assert parse_config("").limit_batches\nsaid("limit_batches was 3")\n',
        "tests/test_train.py": test + 'MORE = {"limit_batches": 2, "seed": 2}\n',
        "evaluate.py": "def evaluate(config, limit):\n    return config.limit_batches or limit\n",
        "search.py": 'def search(config):\n    return ["--limit-batches", config.limit_batches]\n',
        "folds.py": 'parser.add_argument("--limit-batches", "--limit_batches")\n'
        "own = parser.parse_args()\nprint(own.limit_batches)\n",
    }
    merged = project(base, ours, theirs)
    assert '{"most": 2, "seed": 2}' in (merged.files["tests/test_train.py"] or "")
    assert "config.most or limit" in (merged.files["evaluate.py"] or "")
    assert '["--most", config.most]' in (merged.files["search.py"] or "")
    assert '"--most", "--most"' in (merged.files["folds.py"] or "")
    assert "print(own.most)" in (merged.files["folds.py"] or "")
    assert merged.files["README.md"] == "# End\n\nTry `--most 1`.\n" and not merged.conflicts
    new = merged.files["tests/test_new.py"] or ""
    assert new == theirs["tests/test_new.py"].replace("limit_batches", "most")


@pytest.mark.parametrize(
    "form",
    [
        '{}: {} = option({}, "{}")',
        '{}: {} = field(default={}, metadata={{"help": "{}"}})',
        "{0}: Annotated[{1}, arg(help='{3}')] = {2}",
        '{0}: {1} = setting("{0}", {2}, "{3}")',
    ],
    ids=["own", "field", "annotated", "named"],
)
def test_new_fields_have_the_form_of_the_others(form: str) -> None:
    """An own parser may read `metadata["help"]` of each field."""
    rows = [
        ("epochs", "int", "4", "passes over the data"),
        ("seed", "int", "0", "seeds the weights; 0 too"),
        ("steps", "int", "0", "0: all"),
        ("workers", "int", "0", "of the data"),
        ("rate", "float", "0.1", "step size"),
        ("clip", "float", "1.0", "0: off"),
    ]
    new = [
        ("decay", "float", "0.9", "of the average"),
        ("unit", "str", "''", "a 's', \"e\" or none"),
    ]

    def config(form: str, rows: list[tuple[str, ...]]) -> str:
        return "class Config:\n" + "".join(f"    {form.format(*row)}\n" for row in rows)

    plain = "{}: {} = {}  # {}"
    ours = config(form, rows).replace("4", "9")
    changed = [*rows[:4], ("rate", "float", "0.2", "step size"), *new]
    merged = clean(config(plain, rows), ours, config(plain, changed), "config.py")
    quote = '"' if '"{' in form else "'"
    new[1] = (*new[1][:3], new[1][3].replace(quote, f"\\{quote}"))
    assert merged == config(form, [*changed[:5], *new]).replace("4", "9")
    typed = config(form, rows).replace("int", "Positive").replace("float", "Positive")
    assert "decay: float = 0.9  #" in clean(config(plain, rows), typed, config(plain, rows + new))
    rest = "\n\nx = 1\n"  # where the class goes, its form is a question
    assert merge(config(plain, rows) + rest, config(form, rows) + rest, rest).conflicts


def test_a_file_that_goes_in_which_only_names_of_settings_were_changed_is_no_question() -> None:
    fixed = 'FIXED = {"rate": "saved", "seed": "the order", "processes": "parts of the data"}\n'
    base = {"config.py": "class Config:\n    seed: int = 0\n    rate: float = 1\n"}
    ours = {
        "config.py": base["config.py"].replace("rate", "lr"),
        "checkpoint.py": fixed.replace('"rate"', '"lr"'),
    }
    merged = project({**base, "checkpoint.py": fixed}, ours, base)
    assert not merged.conflicts and merged.files["checkpoint.py"] is None


@pytest.mark.parametrize(("name", "head"), [("tools", "tools"), ("t", "tools as t")])
def test_imports_of_whole_modules_are_followed(name: str, head: str) -> None:
    base = "from tools import log\n\nlog(1)\n"
    ours = f"import {head}\n\n{name}.log(1)\n"
    assert clean(base, ours, base + "log(2)\n") == f"{ours}{name}.log(2)\n"
    more = base.replace("log\n", "log, stop\n", 1) + "stop()\n"
    text = clean(base, ours, more)
    assert "from tools import stop\n" in text and text.endswith(f"{name}.log(1)\nstop()\n")


def test_imports_that_are_only_there_for_others_stay() -> None:
    base, more = "from .a import one\n", "from .b import two\n"
    ours = "from .a import one\n\nNAME = 'mine'\n"
    assert more in clean(base, ours, base + more, "__init__.py")


def test_an_import_beside_one_that_the_owner_took_out_comes() -> None:
    base = "from tools import log\nfrom files import read\n\nlog(1)\n"
    ours = base.replace("from files import read\n", "")
    theirs = base.replace("read\n", "read\nfrom net import send\n") + "send(2)\n"
    assert "log\nfrom net import send\n\n" in clean(base, ours, theirs)


def test_both_sides_import_from_one_module() -> None:
    base = "import os\n\nX = os.name\n"
    ours = base.replace("os\n", "os\nfrom parts import Part\n", 1) + "Y = Part()\n"
    theirs = base.replace("os\n", "os\nfrom parts import Other, Part\n", 1)
    theirs = theirs.replace("X = os.name", "X = Part(os.name, Other)")
    text = clean(base, ours, theirs)
    assert "from parts import Other, Part\n" in text and text.count("import") == 2


ATTRIBUTES = "def build(self, given):\n    self.size = given.size\n    return self\n"


def _with_line(line: str) -> str:
    return ATTRIBUTES.replace("    return", f"    {line}\n    return")


def test_attributes_of_one_object_may_be_set_in_any_order() -> None:
    text = clean(ATTRIBUTES, _with_line("self.width = 3"), _with_line("self.depth = given.depth"))
    assert "self.width = 3" in text and "self.depth = given.depth" in text


def test_two_new_classes_have_a_self_each() -> None:
    base = "import os\n\nX = os.name\n"
    new = "\n\nclass {}:\n    def __init__(self):\n        self.x = 1\n"
    text = clean(base, base + new.format("A"), base + new.format("B"))
    assert "class A:" in text and "class B:" in text


@pytest.mark.parametrize(
    "line",
    [
        "self.depth = self.width",
        "self.width = given.width",
        "self.reset()",
        "self.all = vars(self)",
    ],
)
def test_an_attribute_that_both_sides_use_has_an_order(line: str) -> None:
    assert asked(ATTRIBUTES, _with_line("self.width = 3"), _with_line(line))


def test_renamed_keys_are_followed() -> None:
    base = "metrics = evaluate(model, 'val')\nbest(metrics['val_loss'])\n"
    ours = base.replace("'val", "'valid")
    theirs = base + "stop(metrics['val_accuracy'])\n"
    assert "stop(metrics['valid_accuracy'])" in clean(base, ours, theirs)


def test_a_part_that_the_owner_named_goes_into_a_new_block_with_the_rest() -> None:
    base = dedent("""
        def main(model, loader):
            for epoch in range(9):
                metrics = train(model)
                metrics |= evaluate(model, loader)
                log(metrics)
    """)
    line = "        metrics |= evaluate(model, loader)\n"
    own = "        found = evaluate(model, loader)  # mine\n        metrics |= found\n"
    wrapped = f"        with ema.applied():\n{indent(line, '    ')}"
    moved = f"        if epoch % 2:\n            metrics = {{}}\n{indent(line, '    ')}"
    for block in (wrapped, moved):
        text = clean(base, base.replace(line, own), base.replace(line, block))
        expected = block.replace(indent(line, "    "), indent(own, "    "))
        assert text == base.replace(line, expected).lstrip()


def test_keys_that_the_owner_joins_otherwise_are_followed() -> None:
    base = dedent("""
        def evaluate(model, name):
            return {f"{name}_loss": model.loss()}


        metrics = {"train_loss": 1.0}
        metrics |= evaluate(model, "val")
    """)
    ours = base.replace("{name}_", "{name}/")
    line = "best(metrics['val_accuracy'], metrics['train_loss'])\n"
    new = base.replace("loss()}", 'loss(), f"{name}_accuracy": 1.0}') + line
    text = clean(base, ours, new)
    assert 'f"{name}/loss": model.loss(), f"{name}/accuracy": 1.0' in text
    assert "best(metrics['val/accuracy'], metrics['train_loss'])" in text
    both = clean(base, ours.replace('"val"', '"valid"'), new)
    assert "best(metrics['valid/accuracy'], metrics['train_loss'])" in both


def test_a_value_that_is_replaced_once_is_no_renamed_key() -> None:
    base = "kind = 'linear'\nrun(kind)\n"
    text = clean(base, base.replace("linear", "cosine"), base + "log('linear')\n")
    assert "log('linear')" in text


def test_output_that_goes_elsewhere_is_followed() -> None:
    base = "log('a')\nlog('b')\n"
    ours = "logger.info('a')\nlogger.info('b')\n"
    assert "logger.info('c')" in clean(base, ours, base + "log('c')\n")
    printed = base.replace("log", "accelerator.print")
    theirs = "from metrics import log\n\naccelerator.print('a')\nlog(f'{b}')\nlog(c)\n"
    text = clean(printed, ours, theirs)
    assert text.lstrip() == "logger.info('a')\nlogger.info(f'{b}')\nlogger.info(c)\n"


def test_definitions_in_another_order_are_followed() -> None:
    one, two = "def one():\n    return 1\n", "def two():\n    return 2\n"
    theirs = f"{one}\n\n{two.replace('2', '3')}"
    assert clean(f"{one}\n\n{two}", f"{two}\n\n{one}", theirs).startswith(
        "def two():\n    return 3"
    )


CALL = "first_of_the_arguments_of_it, second_of_the_arguments_of_it, third_of_the_arguments_of_it"


def test_what_comes_into_a_short_file_is_laid_out_like_the_others() -> None:
    wrapped, whole = f"result = call(\n    {CALL}\n)\n", f"result = call({CALL})\n"
    assert 100 < len(whole) <= 120
    base = {"long.py": wrapped, "short.py": "result = 1\n"}
    ours = {"long.py": whole, "short.py": "result = 1\n"}
    merged = project(base, ours, {"long.py": wrapped + "print(result)\n", "short.py": wrapped})
    assert merged.files == {"long.py": whole + "print(result)\n", "short.py": whole}


FORWARD = "        loss = model(batch)\n        loss.backward()\n"
WINDOW = STEP.replace(
    FORWARD, "        with window(model):\n" + indent(FORWARD, "    ") + "        count += 1\n"
)


@pytest.mark.parametrize(
    "own",
    [
        "        batch = augment(batch)\n" + FORWARD,
        "        if batch.dark:\n            batch = lighten(batch)\n" + FORWARD,
        "        with autocast():\n" + indent(FORWARD, "    "),
        "        with autocast():\n            loss = model(batch)\n        loss.backward()\n",
        FORWARD + "        watch(loss)\n",
    ],
)
def test_lines_of_ones_own_are_in_the_block_that_an_update_opens_around_them(own: str) -> None:
    expected = WINDOW.replace(indent(FORWARD, "    "), indent(own, "    "))
    assert clean(STEP, STEP.replace(FORWARD, own), WINDOW) == expected.lstrip()


def test_new_lines_that_read_what_the_owner_replaced_are_one_question() -> None:
    base = dedent("""
        def main(loader, model):
            optimizer = AdamW(model.parameters())
            rate = 0.1
            for batch in loader:
                loss = model(batch, rate)
                loss.backward()
                optimizer.step()
            return loss
    """)
    ours = base.replace("optimizer = AdamW(", "first, second = build(")
    ours = ours.replace("optimizer.step()", "first.step()\n        second.step()")
    theirs = base.replace("    rate", "    hooks = Hooks(optimizer)\n    rate")
    theirs = theirs.replace("        loss.b", '        hooks.call("loss")\n        loss.b')
    theirs = theirs.replace("    return", '    hooks.call("end")\n    return')
    merged = merge(base, ours, theirs)
    text = take_side(merged.files["train.py"] or "", True)
    assert [row.label for row in merged.conflicts] == ["the update (optimizer would be undefined)"]
    assert text.count("hooks.call(") == 2


def test_a_block_of_ones_own_that_ends_after_that_of_the_update_is_asked_about() -> None:
    step = "        optimizer.step()\n"
    own = "        with autocast():\n" + indent(FORWARD + step, "    ")
    ours = STEP.replace(FORWARD + step, own)
    assert asked(STEP, ours, WINDOW) == "the update (it would end up in another block)"


ACCUMULATED = WINDOW.replace("window(", "window.accumulate(").replace(
    "        count += 1\n", "        if not window.sync_gradients:\n            continue\n"
)


@pytest.mark.parametrize(
    "own",
    ["seen += len(batch)", "losses.append(loss.item())", "if step:\n            mean.add(loss)"],
)
def test_a_sum_over_batches_that_would_see_the_last_part_of_a_step_is_asked_about(own: str) -> None:
    ours = STEP + f"        {own}\n"
    assert asked(STEP, ours, ACCUMULATED).endswith("would cover only the last part)")


def test_own_clipping_is_done_when_the_gradients_of_all_parts_are_there() -> None:
    clip = "        clip_grad_value_(model.parameters(), 0.5)\n"
    merged = clean(STEP, STEP.replace(FORWARD, FORWARD + clip), ACCUMULATED)
    assert merged == ACCUMULATED.replace("continue\n", f"continue\n{clip}").lstrip()


def test_an_import_of_the_standard_library_comes_back_among_its_like() -> None:
    base = "import time\nfrom math import pi\n\nfrom model import build\n\n"
    theirs = "import time\n\nfrom model import build\n\n"
    use = "print(time.time(), build)\n"
    merged = clean(
        base + use + "print(pi)\n", base + use + "print(2 * pi)\nprint(pi)\n", theirs + use
    )
    assert merged.startswith("import time\nfrom math import pi\n\nfrom model")


def test_an_import_that_the_owner_no_longer_needs_gets_what_new_lines_need() -> None:
    base = "from math import cos, pi\n\nprint(cos(pi))\nprint(2)\n"
    theirs = "from math import cos, inf, pi\n\nprint(cos(pi))\nprint(2)\nprint(inf)\n"
    expected = "from math import inf\nprint(1)\nprint(2)\nprint(inf)\n"
    assert clean(base, "print(1)\nprint(2)\n", theirs) == expected


def test_a_function_that_was_renamed_and_goes_on_is_followed() -> None:
    base = "def sample(seed):\n    data = load(seed)\n    check(data)\n    return data\n"
    base += "\n\ndef one(sample):\n    use(sample)\n"
    base += "\n\ndef main():\n    for sample in rows:\n        use(sample)\n"
    inner = "    def on(device):\n        return data.to(device)\n\n    return on"
    ours = base.replace("    return data", inner).replace("sample", "get_sample", 2)
    ours = ours.replace("use(sample)", "use(get_sample(1))", 1)
    text = clean(base, ours, base.replace("load(seed)", "load(seed, 2)"))
    assert text == ours.replace("load(seed)", "load(seed, 2)")


def test_a_decorator_stays_on_its_function_below_a_new_one() -> None:
    base = "def one(x):\n    assert close(x)\n\n\n@gpu\ndef two():\n    run(2)\n"
    more = base.replace("@gpu", "@cpu\ndef none():\n    run(0)\n\n\n@gpu")
    slow = base.replace("@gpu", "@slow\n@gpu").replace("assert close(x)", "assert_close(x, 1)")
    for ours, theirs in ((more, slow), (slow, more)):
        text = clean(base, ours, theirs)
        assert "@cpu\ndef none():\n    run(0)\n\n\n@slow\n@gpu\ndef two():" in text


def test_the_text_below_a_field_that_the_owner_has_elsewhere_stays_away() -> None:
    base = "class Args:\n    fp16: int = 1\n    'FP16.'\n    zero: int = 0\n    'ZeRO.'\n"
    field = "    bf16: int = 2\n    'BF16.'\n"
    ours = base.replace("    zero", f"{field}    zero")
    theirs = base + "    kind: str = ''\n    'Kind.'\n" + field.replace("BF16", "Bfloat16")
    text = clean(base, ours, theirs)
    assert text == ours + "    kind: str = ''\n    'Kind.'\n"


def test_one_block_indented_in_another_way_is_no_style() -> None:
    base = "try:\n  import a\nexcept ImportError:\n  a = None\n"
    base += "".join(f"\n\ndef f{n}():\n    print(a)\n" for n in range(3))
    theirs = base.replace("def f2():\n", "def f2():\n    print(2)\n")
    text = clean(base, base.replace("f0", "f"), theirs)
    assert "def f2():\n    print(2)\n    print(a)\n" in text


@pytest.mark.parametrize("names", [("main", "cli"), ("train", "main")])
def test_what_runs_as_a_script_is_followed_into_a_function(names: tuple[str, str]) -> None:
    """Also into one that has the name of another one, which was renamed."""
    base = STEP + """

if __name__ == "__main__":
    options = read_options()
    try:
        main(options.loader, options.model, options.optimizer)
    except KeyboardInterrupt:
        print("stopped")
"""
    head, script = base.replace("main(", f"{names[0]}(").split('if __name__ == "__main__":\n')
    wrapped = f"def {names[1]}():\n{script}"
    ours = f'{head}{wrapped}\n\nif __name__ == "__main__":\n    {names[1]}()\n'
    theirs = base.replace("read_options()", "read_options()\n    check(options)")
    expected = ours.replace("read_options()", "read_options()\n    check(options)")
    assert clean(base, ours, theirs) == expected.lstrip("\n")


def test_a_function_that_returns_what_its_last_line_called_is_followed() -> None:
    base = """
        def main(config):
            model = build(config)
            optimizer = AdamW(model)
            model, optimizer = prepare(model, optimizer)
            train(model, optimizer)
        """
    ours = """
        def setup(config):
            model = build(config)
            optimizer = AdamW(model)
            return prepare(model, optimizer)


        def main(config):
            model, optimizer = setup(config)
            train(model, optimizer)
        """
    theirs = base.replace("train(model", "ema = Ema(model)\n            train(model").replace(
        "AdamW(model)", "SGD(model)"
    )
    text = clean(base, ours, theirs)
    assert "    optimizer = SGD(model)\n    return prepare(model, optimizer)\n" in text
    assert "    model, optimizer = setup(config)\n    ema = Ema(model)\n" in text
    more = theirs.replace(
        "model, optimizer = prepare(model, ", "model, rate, optimizer = prepare(model, rate, "
    )
    assert "prepare(model, rate, optimizer)\n    return model, optimizer\n" in clean(
        base, ours, more
    )


@pytest.mark.parametrize(
    ("result", "read"),
    [
        ("return total / len(loader)", "float(total)"),
        ("return float(total / len(loader))", "total"),
        ("return (total / len(loader)).item()", "total"),
        ("total = total / len(loader)\n            return float(total)", "total"),
    ],
)
def test_the_mean_that_a_function_returned_may_come_from_elsewhere(result: str, read: str) -> None:
    """As from the minimal loop to the complete one."""
    base = """
        def main(data):
            for epoch in range(3):
                total = 0.0
                for batch in data:
                    total += step(batch)
                total = total / len(data)
                print(float(total))
        """
    ours = f"""
        def train(loader) -> float:
            total = 0.0
            for batch in loader:
                total += step(batch)
            {result}


        def main(data):
            for epoch in range(3):
                total = train(data)
                print({read})
        """
    theirs = """
        def main(data):
            total = Mean()
            for epoch in range(3):
                for batch in bar(data):
                    total.add(step(batch))
                print(total.read())
        """
    head = "def train(loader, total) -> None:\n    for batch in bar(loader):\n"
    text = clean(base, ours, theirs)
    assert text.startswith(f"{head}        total.add(step(batch))\n\n\n")
    assert text.endswith("        train(data, total)\n        print(total.read())\n")


def test_a_function_that_got_a_line_from_elsewhere_is_followed() -> None:
    steps = "".join(f"        step{n}(batch)\n" for n in range(9))
    base = f"def main(loader):\n    every = 2\n    open(loader)\n    for batch in loader:\n{steps}"
    head = "def main(loader):\n    open(loader)\n    epoch(loader)\n"
    ours = f"def epoch(loader):\n    every = 2\n    for batch in loader:\n{steps}\n\n{head}"
    theirs = base.replace("        step5", "        clip(batch)\n        step5")
    assert "        clip(batch)\n        step5(batch)\n" in clean(base, ours, theirs)


def test_the_end_of_a_block_stays_there_below_a_new_end() -> None:
    base = """
        def main(loader):
            for batch in loader:
                loss = step(batch)
                total += loss
            mean = total / len(loader)
            print(mean)
        """
    own = ("seen += 1", "if seen % 10 == 0:", "    show(loss)")
    ours = base.replace("total += loss", "\n                ".join(("total += loss", *own)))
    theirs = base.replace(
        "        total += loss\n            mean = total / len(loader)\n",
        ("        mean.add(loss)\n                count.batch += 1\n"),
    )
    assert "count.batch += 1\n        seen += 1\n        if seen % 10 == 0:\n" in clean(
        base, ours, theirs
    )
    more = theirs.replace(
        "count.batch += 1\n", "count.batch += 1\n            if few:\n                save()\n"
    )
    assert "            show(loss)\n    if few:\n        save()\n" in clean(base, ours, more)
    leaves = clean(base, ours.replace("show(loss)", "break"), theirs)
    assert "        if seen % 10 == 0:\n            break\n    print(mean)\n" in leaves
    assert asked(base, ours.replace("show(loss)", "show(total)"), theirs), "it goes"


def test_a_function_inside_of_the_function_is_followed() -> None:
    ours = """
        def main(loader, model, optimizer):
            def step(loss):
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()

            for batch in loader:
                loss = model(batch)
                step(loss)
        """
    theirs = STEP.replace(
        "        optimizer.step()", "        clip(loss)\n        optimizer.step()"
    )
    assert "        loss.backward()\n        clip(loss)\n" in clean(STEP, ours, theirs)
    head, _, loop = theirs.lstrip("\n").partition("\n")
    saved = f"{head}\n    with saving():\n{indent(loop, '    ')}"
    text = clean(STEP, ours, saved)
    assert "\n    with saving():\n        for batch in loader:\n" in text
    assert text.index("        clip(loss)\n") < text.index("    with saving():")
    called = """
            def run(phase):
                for batch in loader[phase]:
                    losses = model(batch)
                    if phase == "train":
                        step(losses.mean())

            run("train")
        """
    theirs = theirs.replace("model(batch)", "model(batch).mean()")
    merged = merge(STEP, ours[: ours.index("\n            for")] + called, theirs)
    text = take_side(merged.files["train.py"] or "", False)
    assert text.startswith(theirs.lstrip()), "it is called in another function"


def test_a_name_that_the_owner_computes_in_a_new_function_is_no_other_value_there() -> None:
    base = """
        def main(loader):
            total = 0
            for batch in loader:
                total += loss(batch)
            total = total / len(loader)
            metrics = {"loss": float(total)}
            metrics |= evaluate(loader)
            log(metrics)
        """
    moved = """
            losses = []

            def validate():
                total = mean(losses)
                metrics = {"loss": float(total)}
                metrics |= evaluate(loader)
                return metrics

            for batch in loader:
                losses.append(loss(batch))
            log(validate())
        """
    head, start = base[: base.index("            total")], base.index("            total = total")
    ours = head + moved.lstrip("\n")
    new = base[:start] + base[start:].replace("            total = total / len(loader)\n", "")
    theirs = new.replace("float(total)", "total.end()").replace("total = 0", "total = Running()")
    merged = merge(base, ours, theirs).files["train.py"] or ""
    assert take_side(merged, True) == dedent(ours).lstrip()


def test_lines_that_were_put_into_a_function_and_renamed_around_it_are_followed() -> None:
    base = STEP.replace(
        "        optimizer.step()", "        model.norm()\n        optimizer.step()"
    )
    ours = """
        def step(loss, optimizer, model):
            loss.backward()
            model.norm()
            optimizer.step()
            optimizer.zero_grad()


        def main(loader, net, optimizer):
            for batch in loader:
                loss = net(batch, net)
                step(loss, optimizer, net)
        """
    base = base.replace("model(batch)", "model(batch, model)")
    theirs = base.replace("        model.norm()\n", "        model.norm()\n        model.clip()\n")
    assert "    model.norm()\n    model.clip()\n" in clean(base, ours, theirs)


def test_a_file_that_was_put_into_another_one_is_followed() -> None:
    save = "def save(model):\n    write(model)\n"
    base = {"weights.py": save, "train.py": "from weights import save\n\nsave(1)\n"}
    ours = {"train.py": f"{save}\n\nsave(1)\n"}
    theirs = {**base, "weights.py": save.replace("write(", "write_safely(")}
    merged = project(base, ours, theirs)
    assert "write_safely(model)" in (merged.files["train.py"] or "") and not merged.notes
    theirs["test_it.py"] = "import weights\n\nweights.save(2)\n"
    merged = project(base, ours, theirs)
    assert merged.files["test_it.py"] == "import train as weights\n\nweights.save(2)\n"


def test_new_files_get_the_names_of_the_owner() -> None:
    """And new lines of files that the owner did not edit."""
    train = "def run(model):\n    return model\n\n\nrun(run(1))\n"
    base = {"train.py": train, "old.py": "import train\n"}
    ours = {**base, "train.py": train.replace("run", "fit")}
    by_module = "import train\n\ntrain.run(2)\n"
    tool = "from train import run\n\nrun(3)\n"
    theirs = {"train.py": train, "old.py": by_module, "new.py": by_module, "tool.py": tool}
    merged = project(base, ours, theirs)
    assert merged.files["tool.py"] == "from train import fit\n\nfit(3)\n"
    assert merged.files["old.py"] == merged.files["new.py"] == "import train\n\ntrain.fit(2)\n"
    assert not merged.warnings


def test_paragraphs_that_the_owner_deleted_stay_away() -> None:
    base = "# Net\n\nHow to train it.\n\nHow to test it.\n"
    ours, theirs = base.replace("How to test it.\n", "Mine.\n"), base.replace(
        "test it", "test it well"
    )
    assert clean(base, ours, theirs, "README.md") == ours


def test_a_row_of_the_owner_stands_for_that_of_an_update_about_the_file() -> None:
    base = "| file | what |\n| --- | --- |\n| `train.py` | trains |\n"
    ours = base + "| `config.py`, `configs/` | mine |\n"
    theirs = base + "| `config.py` | generated |\n| `hooks.py` | generated |\n"
    text = clean(base, ours, theirs, "README.md")
    assert text == ours + "| `hooks.py` | generated |\n"


LOADED = "from data import load\nfrom train import Config\n"


@pytest.mark.parametrize(
    "own",
    [
        LOADED.replace("from train", "from config"),
        "from config import Config\nfrom data import load\n",
    ],
)
def test_own_imports_go_with_the_code_of_a_document(own: str) -> None:
    base = f"# Use\n\n```python\n{LOADED}\nrun(Config(), load())\n```\n"
    theirs = "# Use\n\n```python\nfrom predict import run\n\nprint(run('a'))\n```\n"
    assert clean(base, base.replace(LOADED, own), theirs, "README.md") == theirs


def test_a_phrase_of_the_owner_goes_where_an_update_says_it_anew() -> None:
    base = "# Output\n\nA run writes the final weights to one file, in a new folder.\n"
    ours = base.replace("final weights", "weights of its best epoch")
    theirs = "# Output\n\nIn its folder:\n\n- `config.json`: settings\n- `net`: the final weights\n"
    text = clean(base, ours, theirs, "README.md")
    assert text == theirs.replace("final weights", "weights of its best epoch")
    for more in ("- `old`: the final weights\n", "\n# Use\n\nLoad the final weights.\n"):
        assert merge(base, ours, theirs + more, "README.md").conflicts, "which of them?"
    assert merge(base, ours.replace("a new", "one"), theirs, "README.md").conflicts


def test_new_rows_name_files_in_the_folder_that_the_owner_moved_them_to() -> None:
    base = "| `net.py`, `data.py` | one |\n| `steps.py` | two |\n"
    ours = base.replace("`net", "`src/net").replace("`steps", "`src/steps")
    theirs = base.replace("| `steps", "| `hooks.py`, `data.py` | new |\n| `steps")
    moved = {name: f"src/{name}" for name in ("net.py", "data.py", "steps.py", "hooks.py")}
    pristine = Pristine("", {}, {"README.md": base}, moved=moved)
    merged = merge_files(pristine, {"README.md": ours}, {"README.md": theirs}, "the update")
    text = "| `src/hooks.py`, `data.py` | new |\n| `src/steps"
    assert merged.files["README.md"] == ours.replace("| `src/steps", text)


def test_a_new_row_between_two_that_the_owner_deleted_comes() -> None:
    base = "# Features\n\n- one\n- two\n- four\n- five\n"
    ours, theirs = base.replace("- two\n- four\n", ""), base.replace("- four", "- three\n- four")
    assert clean(base, ours, theirs, "README.md") == ours.replace("- one", "- one\n- three")
    assert clean(base, "# Features\n", theirs, "README.md") == "# Features\n", "the whole list"
    said = theirs.replace("- three", "  or both")
    assert clean(base, ours, said, "README.md") == ours, "the end of the row above"


def test_a_row_that_the_owner_rewrote_or_goes_on_with_is_that_about_the_same_file() -> None:
    base = "# Files\n\n- `log`: values\n- `net`: the final weights\n"
    own = "- `net`: the average of all weights\n- `last`: the weights at the end\n"
    ours = base.replace("- `net`: the final weights\n", own)
    theirs = base.replace("- `net`", "- `curves`: values\n- `net`")
    assert clean(base, ours, theirs, "README.md") == ours.replace(
        "- `net`", "- `curves`: values\n- `net`"
    )
    ours = base.replace("values\n", "values\n  of all runs\n")
    theirs = base.replace("- `log`: values\n", "")
    merged = merge(base, ours, theirs, "README.md")
    assert merged.files["README.md"] == theirs, "it would go on with another row"
    assert merged.notes == [
        "README.md: your lines go with what the update removes there:\n    of all runs"
    ]
    ours = base.replace("values\n", "values; `own_*` are\n  of the other texts\n")
    merged = merge(base, ours, theirs, "README.md")
    assert merged.files["README.md"] == theirs and "of the other texts" in merged.notes[0]


def test_names_in_what_a_test_replaces_are_followed() -> None:
    train = "def evaluate():\n    return 1\n\n\nprint(evaluate())\n"
    base = "import train\n\n\ndef test_it(patch):\n    assert train.evaluate()\n"
    more = '    patch.setattr(train, "evaluate", max)\n    patch.multiple(train, evaluate=max)\n'
    theirs = f"{base}\n\ndef test_more(patch):\n{more}"
    ours = train.replace("evaluate", "validate")
    for test in (base, base.replace("assert train.evaluate", "assert 1 == train.validate")):
        merged = project(
            {"train.py": train, "test_it.py": base},
            {"train.py": ours, "test_it.py": test},
            {"train.py": train + "print(2)\n", "test_it.py": theirs},
        )
        assert not merged.conflicts and not merged.warnings
        assert more.replace("evaluate", "validate") in (merged.files["test_it.py"] or "")


def test_a_function_that_a_test_replaces_by_another_one_is_that_in_new_tests() -> None:
    train = "def build():\n    return 1\n\n\nprint(build())\n"
    base = "import train\n\n\ndef test_it(patch):\n    patch.multiple(train, build=max)\n"
    theirs = f"{base}\n\ndef test_more(patch):\n    patch.multiple(train, build=min)\n"
    ours = train.replace("build", "build_all").replace("return 1", "return [1, 2]")
    merged = project(
        {"train.py": train, "test_it.py": base},
        {"train.py": ours, "test_it.py": base.replace("build", "build_all")},
        {"train.py": train + "print(2)\n", "test_it.py": theirs},
    )
    assert not merged.conflicts and not merged.warnings
    assert merged.files["test_it.py"] == theirs.replace("build", "build_all")


def test_an_edited_function_whose_calls_go_is_asked_about_as_one() -> None:
    base = "def rate(step):\n    return 1\n\n\ndef main():\n    print(rate(2))\n    train()\n"
    theirs = "def main():\n    train()\n"
    label = asked(base, base.replace("return 1", "return 1 / step"), theirs)
    assert label == "the update (nothing calls rate any more)"


def cell(name: str, *source: str) -> Cell:
    return {"cell_type": "code", "id": name, "metadata": {}, "outputs": [], "source": [*source]}


def notebook(*cells: Cell) -> str:
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def cells_after(ours: str, base: str, theirs: str, note: str = "") -> list[Cell]:
    """The cells of a merged notebook, about which nobody is asked."""
    merged = merge(base, ours, theirs, "train.ipynb")
    assert not merged.conflicts and merged.notes == [note] * bool(note), merged
    return list(json.loads(merged.files["train.ipynb"] or "")["cells"])


LOAD, TRAIN, TRAIN_ON_TWO = cell("load", "a = 1"), cell("t", "train(1)"), cell("t", "train(2)")
OWN = cell("mine", "train(1)")


def test_cells_of_a_notebook_are_known_by_their_ids() -> None:
    base, theirs = notebook(LOAD, TRAIN), notebook(LOAD, TRAIN_ON_TWO)
    assert cells_after(notebook(OWN, TRAIN, LOAD), base, theirs) == [OWN, TRAIN_ON_TWO, LOAD]
    in_metadata = [{**TRAIN, "metadata": {"id": "t"}}, {**OWN, "metadata": {"id": "mine"}}]
    for one in in_metadata:  # as Colab saves it
        del one["id"]
    found = cells_after(notebook(*in_metadata), base, theirs)
    assert [one["source"] for one in found] == [["train(2)"], ["train(1)"]]
    own = [{key: x for key, x in one.items() if key != "id"} for one in (LOAD, TRAIN)]
    own[1]["source"] = "train(1, 'mine')"  # without an id, by its source
    assert cells_after(notebook(*own), base, theirs)[1]["source"] == "train(2, 'mine')"


def test_cells_of_a_notebook_come_and_go() -> None:
    base, theirs = notebook(LOAD, TRAIN), notebook(TRAIN, cell("test", "test()"))
    ours = notebook(LOAD, TRAIN, OWN)
    assert cells_after(ours, base, theirs) == [TRAIN, cell("test", "test()"), OWN]
    note = "train.ipynb: the cell t stays deleted, as you left it."
    assert cells_after(notebook(LOAD), base, notebook(LOAD, TRAIN_ON_TWO), note) == [LOAD]


def test_a_notebook_that_goes_stays_if_it_was_edited() -> None:
    base = notebook(LOAD, TRAIN)
    merged = project({"train.ipynb": base}, {"train.ipynb": notebook(LOAD, OWN)}, {})
    assert merged.files == {} and "your notebook stays" in merged.notes[0]
    assert project({"train.ipynb": base}, {"train.ipynb": base}, {}).files == {"train.ipynb": None}


# somebody is asked


def test_a_cell_that_goes_and_was_edited_is_a_conflict_in_a_notebook() -> None:
    own = cell("t", "print(1)\n", "train(1)")
    merged = merge(notebook(LOAD, TRAIN), notebook(LOAD, own), notebook(LOAD), "train.ipynb")
    text = merged.files["train.ipynb"] or ""
    marked = json.loads(text)["cells"][1]["source"]
    assert [marked[0], marked[-1]] == ["<<<<<<< yours\n", ">>>>>>> the update"]
    assert text.split("\n")[merged.conflicts[0].line - 1].strip().startswith('"<<<<<<< yours')
    assert take_side(text, True) == notebook(LOAD, own)
    assert take_side(text, False) == notebook(LOAD)


def test_a_key_that_was_edited_in_what_goes_is_asked_about() -> None:
    base = "names = [row['name'] for row in read()]\nprint(names)\n\nrun()\n"
    mine = base.replace("'name'", "'title'")
    assert asked(base, mine, "run()\n") == "the update"
    assert clean(base, mine, base + "save(row['name'])\n").endswith("save(row['title'])\n")


NET = """
class Net(Module):
    def __init__(self, size):
        super().__init__()
        self.one = Linear(size, size)
        self.two = Linear(size, 10)
        self.flat = Flatten()
"""
BACKBONE = """
class Backbone(Module):
    def __init__(self, model, classes):
        super().__init__()
        self.model = model
        self.head = Linear(model.size, classes)
        self.mean = tensor(model.mean)
"""


@pytest.mark.parametrize("own", ["", "        super().__init__(True)\n"])
def test_an_edit_is_not_put_into_a_definition_that_comes_instead(own: str) -> None:
    mine = NET.replace("        super().__init__()\n", own)
    assert asked(NET, mine, BACKBONE) == "the update"
    renamed = clean(NET, mine, NET.replace("Net", "Model").replace("10", "100"))
    assert renamed.lstrip() == mine.replace("Net", "Model").replace("10", "100").lstrip()


def test_a_name_that_both_sides_bring_is_asked_about() -> None:
    base = "def main():\n    first = 1\n    print(first)\n"
    ours = base.replace("    first", "    ema = 'mine'\n    use(ema)\n    first", 1)
    theirs = base + "    ema = average()\n    ema.save()\n"
    assert "you already use the name ema" in asked(base, ours, theirs)


def test_a_name_for_a_few_lines_may_be_there_twice() -> None:
    base = """
        def main(data):
            for epoch in data:
                for batch in epoch:
                    train(batch)
                check(epoch)
                accelerator.print(f"epoch {epoch} | {loss}")
        """
    ours = base.replace("accelerator", "seconds = time() - start\n                accelerator")
    ours = ours.replace("{loss}", "{loss} | {seconds:.1f} s")
    log = "log(f'{step} | {seconds}')"
    theirs = base.replace("train(batch)", f"train(batch)\n                    {log}")
    theirs = theirs.replace(log, f"seconds = count() / step\n                    {log}")
    theirs = theirs.replace("accelerator.print", "log")
    merged = clean(base, ours, theirs)
    assert merged.count("seconds = ") == 2
    assert 'log(f"epoch {epoch} | {loss} | {seconds:.1f} s")' in merged
    read_later = theirs.replace("for epoch in data:", "seconds = 0\n            for epoch in data:")
    assert "the name seconds" in asked(base, ours, read_later + "            save(seconds)\n")


def test_a_name_of_both_sides_for_one_new_line_is_asked_about_where_it_is_set() -> None:
    base = """
        def main(loader):
            for batch in loader:
                train(batch)
        """
    loop = "for batch in loader:"
    ours = base.replace(loop, "bar = tqdm(loader)\n            for batch in bar:")
    new = ("rest = skip(5)", "bar = progress(rest)", "start = now()", "for batch in bar:")
    theirs = base.replace(loop, "\n            ".join(new))
    theirs += "        bar.show(start)\n"
    merged = merge(base, ours, theirs)
    [conflict] = merged.conflicts
    assert conflict.label == "the update (you already use the name bar)"
    assert str(merged.files["train.py"]).endswith("""
>>>>>>> the update (you already use the name bar)
    start = now()
    for batch in bar:
        train(batch)
        bar.show(start)
""")


def test_what_a_block_does_not_bind_stands_below_it() -> None:
    base = """
        def main(epochs):
            for epoch in epochs:
                metrics = train()
                metrics |= evaluate()
                log(epoch)
        """
    call = "                metrics |= evaluate()"
    ours = base.replace(call, f"                if epoch % 5 == 0:\n    {call}")
    theirs = base.replace(
        call, f"{call}\n                stop(metrics)\n                done = epoch + 1"
    )
    theirs = theirs.replace("log(epoch)", "log(done)")
    assert clean(base, ours, theirs).endswith("""
        if epoch % 5 == 0:
            metrics |= evaluate()
            stop(metrics)
        done = epoch + 1
        log(done)
""")


def test_an_attribute_that_is_a_parameter_is_followed_into_the_function() -> None:
    base = """
        def main(state, file):
            values = test()
            show(values)
            file.append(state.step, values)
            end()
        """
    ours = """
        def finish(file, step):
            values = test()
            show(values)
            file.append(step, values)


        def main(state, file):
            finish(file, state.step)
            end()
        """
    theirs = base.replace("show(values)", "show(values)\n            track(values, state.step)")
    text = clean(base, ours, theirs)
    assert "    show(values)\n    track(values, step)\n    file.append(step, values)\n" in text
    assert "    finish(file, state.step)\n    end()\n" in text
    sets = base.replace("show(values)", "show(values)\n            state.step = 0")
    assert "\n    step = 0\n" not in str(merge(base, ours, sets).files["train.py"])


def test_a_variable_is_used_as_long_as_its_log_line_is_asked_about() -> None:
    base = """
        def main(epochs):
            for epoch in epochs:
                total = train()
                mean = total / 2
                save(mean)
        """
    ours = base.replace("total = train()", "began = now()\n                total = train()")
    ours = ours.replace("save(", "print(total, now() - began)\n                save(")
    theirs = base.replace("total = train()", "mean = run(epoch)")
    theirs = theirs.replace("                mean = total / 2\n", "").replace("save(", "keep(")
    merged = merge(base, ours, theirs)
    assert "        began = now()\n        mean = run(epoch)\n<<<" in str(merged.files["train.py"])
    assert asked(base, ours, theirs) == "the update (total would be undefined)"


def test_what_a_new_loop_adds_to_covers_all_parts() -> None:
    base = """
        def main(epochs):
            for epoch in epochs:
                metrics = evaluate("val")
                log(metrics)
        """
    ours = base.replace("log(metrics)", "log(metrics)\n                history.append(metrics)")
    loop = ("for name in names:", "    metrics |= evaluate(name)", "log(metrics)")
    theirs = base.replace("log(metrics)", "\n                ".join(loop))
    assert "        log(metrics)\n        history.append(metrics)\n" in clean(base, ours, theirs)
    anew = theirs.replace("|=", "=")
    assert asked(base, ours, anew) == "the update (metrics would cover only the last part)"


def test_an_edited_definition_goes_into_the_new_file_that_an_update_moves_it_to() -> None:
    show = "def show(value):\n    return f'{value:.5g}'\n"
    main = "\n\ndef main():\n    print(show(1))\n"
    ours = "import math\n\n\n" + show.replace("value:", "math.log(value):") + main
    theirs = {"train.py": "from log import show\n" + main, "log.py": show}
    merged = project({"train.py": show + main}, {"train.py": ours}, theirs)
    assert not merged.conflicts and not merged.warnings
    assert merged.files["train.py"] == theirs["train.py"]
    assert merged.files["log.py"] == ours.partition(main)[0]
    local = ours.replace("math.log(value)", "scaled(value)").replace("import math", "scaled = abs")
    assert project({"train.py": show + main}, {"train.py": local}, theirs).conflicts


def test_new_definitions_stand_below_an_import_that_the_owner_moved() -> None:
    first, rest = "from config import Config\n", "from data import load\n"
    main = "\n\ndef main(config: Config):\n    load()\n"
    base, ours = first + rest + main, rest + first + main
    new = "\n\ndef schedule(config: Config):\n    return config\n\n\ndef main("
    theirs = base.replace("load\n", "load\nfrom weights import save\n", 1)
    theirs = theirs.replace("\n\ndef main(", new).replace(
        "    load()", "    load(schedule)\n    save()"
    )
    text = clean(base, ours, theirs)
    assert text.index("from config import Config\n") < text.index("def schedule(")


def test_what_ends_the_run_may_stand_beside_other_calls() -> None:
    guard = "if not isfinite(loss):\n            raise SystemExit\n        "
    ours = STEP.replace("loss.backward", f"{guard}loss.backward")
    theirs = STEP.replace("loss.backward", "total.add(loss)\n        loss.backward")
    assert f"{guard}total.add(loss)\n" in clean(STEP, ours, theirs)
    assert merge(STEP, ours.replace("isfinite(loss)", "total.count"), theirs).conflicts
    leaves = ours.replace("raise SystemExit", "continue")
    assert merge(STEP, leaves, theirs).conflicts


def test_new_clipping_goes_with_the_step_into_the_owners_condition() -> None:
    step = "        optimizer.step()\n        optimizer.zero_grad()\n"
    ours = STEP.replace(step, "        if ready(batch):\n" + indent(step, "    "))
    clip = "if limit:\n            clip_grad_norm_(model, limit)\n"
    theirs = STEP.replace("        optimizer.step", f"        {clip}        optimizer.step")
    inside = "        if ready(batch):\n" + indent(f"        {clip}{step}", "    ")
    assert inside in clean(STEP, ours, theirs)


def test_own_steps_from_several_batches_are_asked_about() -> None:
    step = "        optimizer.step()\n        optimizer.zero_grad()\n"
    parts = "        loss = model(batch)\n        loss.backward()\n"
    within = f"        with accelerator.accumulate(model):\n{indent(parts, '    ')}"
    theirs = STEP.replace(
        parts, f"{within}        if not accelerator.sync_gradients:\n            continue\n"
    )
    ours = STEP.replace(step, "        if number % 4 == 0:\n" + indent(step, "    "))
    assert "from several batches" in asked(STEP, ours, theirs)
    assert "number" in clean(STEP, ours.replace("number % 4 == 0", "number > 4"), theirs)


def test_a_file_that_goes_takes_entries_of_its_lists_with_it() -> None:
    base = {"checkpoint.py": 'FIXED = {\n    "seed": "it decides the data",\n}\n'}
    ours = {"checkpoint.py": base["checkpoint.py"].replace("}", '    "rank": "it is new",\n}')}
    merged = project(base, ours, {})
    assert merged.files == {"checkpoint.py": None} and not merged.conflicts
    assert merged.notes == ["checkpoint.py is deleted, with what you added to its lists."]
    changed = {"checkpoint.py": ours["checkpoint.py"].replace("decides", "made")}
    assert len(project(base, changed, {}).conflicts) == 1


def test_a_file_that_goes_takes_hints_and_comments_with_it() -> None:
    base = {
        "checkpoint.py": "import torch\n\n\ndef save(model, path):\n    torch.save(model, path)\n"
    }
    ours = base["checkpoint.py"].replace("model, path)", "model: nn.Module, path: str) -> None", 1)
    ours = ours.replace("torch\n", "torch\nfrom torch import nn\n").replace(
        "None:", 'None:\n    """As PyTorch does."""  # not as a pickle'
    )
    merged = project(base, {"checkpoint.py": ours}, {})
    assert merged.files == {"checkpoint.py": None} and not merged.conflicts
    assert merged.notes == ["checkpoint.py is deleted, with your type hints and comments."]
    other = ours.replace("torch.save", "model.save")
    assert len(project(base, {"checkpoint.py": other}, {}).conflicts) == 1
    imports = {"checkpoint.py": "import torch\n"}
    assert len(project(imports, {"checkpoint.py": "import torch\nsave(\n"}, {}).conflicts) == 1


def test_a_file_that_goes_stays_if_a_file_of_the_owner_uses_it() -> None:
    """With what it needs of other files, and these of their own."""
    data = "import json\n\n\ndef rows():\n    return 1\n"
    more = "\n\ndef read(path):\n    return parse(path)\n"
    more += "\n\ndef parse(path):\n    return json.loads(path)\n"
    predict = "from data import read\n\n\ndef load():\n    return read('a')\n"
    predict += "\n\ndef predict():\n    return load()\n"
    base = {"data.py": data + more, "predict.py": predict}
    ours = {**base, "tool.py": "from predict import load\n\nprint(load())\n"}
    merged = project(base, ours, {"data.py": data.replace("import json\n\n\n", "")})
    assert not merged.conflicts and not merged.warnings, merged
    assert merged.files == {"data.py": data + more, "predict.py": predict}
    assert merged.notes == [
        "predict.py stays, because tool.py uses it.",
        "data.py keeps read, because predict.py uses it.",
    ]


def test_what_the_owner_added_to_a_file_that_goes_stays() -> None:
    base = {"callbacks.py": "import torch\n\n\nclass Ema:\n    weights = torch.zeros(2)\n"}
    own = "import math\n\n\nclass Alarm:\n    limit = math.inf\n"
    ours = {"callbacks.py": f"import math\n\n{base['callbacks.py']}\n\n{own[14:]}"}
    merged = project(base, ours, {})
    assert merged.files == {"callbacks.py": own} and not merged.conflicts
    assert merged.notes == ["callbacks.py has only what you added to it: the rest is gone."]
    for other in (("limit = math.inf", "limit = Ema()"), ("zeros(2)", "zeros(3)")):
        changed = {"callbacks.py": ours["callbacks.py"].replace(*other)}
        assert len(project(base, changed, {}).conflicts) == 1


def test_of_tests_that_go_a_question_shows_what_the_owner_changed() -> None:
    helpers = "LIMIT = 3\n\n\n@pytest.fixture\ndef net():\n    return LIMIT\n\n\n"
    test, other = "def test_it(net):\n    assert net\n", "\n\ndef test_other():\n    assert json\n"
    start = 'import os\n\nimport pytest\n\nos.environ["CPU"] = "1"\n'
    base = {"test_net.py": f"import json\n{start}{helpers}{test}{other}"}
    own = f"{test}    assert net == 3\n"
    merged = project(base, {"test_net.py": base["test_net.py"].replace(test, own)}, {})
    text = merged.files["test_net.py"] or ""
    assert take_side(text, True) == f"{start}{helpers}{own}"
    assert f"previously generated\n{test}=======\n>>>>>>>" in text
    assert merged.notes == ["test_net.py has only what you changed in it: the rest is gone."]
    more = "\n\ndef test_more(net):\n    assert net.more\n"
    merged = project(base, {"test_net.py": base["test_net.py"] + more}, {})
    assert merged.files["test_net.py"] == f"{start}{helpers}{more.lstrip()}"
    assert not merged.conflicts and len(merged.notes) == 1


def test_new_lines_below_a_line_that_the_owner_moved_up() -> None:
    base = STEP + "        total += loss.detach()\n    end()\n"
    moved = base.replace("        optimizer.zero_grad()\n", "")
    ours = moved.replace("        loss.b", "        optimizer.zero_grad()\n        loss.b")
    theirs = STEP + "        bar.update(1)\n    end()\n"
    assert "optimizer.step()\n        bar.update(1)" in clean(base, ours, theirs)
    down = moved.replace("    end()", "    optimizer.zero_grad()\n    end()")
    assert merge(base, down, theirs).conflicts


def test_what_the_owner_says_of_a_function_goes_with_it() -> None:
    base = 'def old(x):\n    """Returns half."""\n    return x / 2\n\n\ndef new(x):\n    return x\n'
    ours = base.replace("Returns half.", "Gibt die Hälfte zurück.").replace("def new", "def newer")
    theirs = "def new(x):\n    return x\n"
    assert clean(base, ours, theirs) == theirs.replace("def new", "def newer")
    assert merge(base, ours.replace("x / 2", "x / 3"), theirs).conflicts


def test_a_value_that_is_computed_no_more_is_asked_about() -> None:
    base = """
        def main(model):
            metrics = validate(model)
            log(metrics)
            metrics = test(model)
            log(metrics)
            end(model)
        """
    ours = base.replace("metrics = test(model)\n            log(metrics)\n", "pass\n")
    theirs = base.replace("end(model)", "save(metrics)\n            end(model)")
    assert merge(base, ours, theirs).conflicts


def test_a_key_may_be_added_to_a_value_that_is_computed_otherwise() -> None:
    base = """
        import torch

        def main(model, loaders):
            for epoch in loaders:
                metrics = train(model)
                metrics |= evaluate(model)
                log(metrics)
        """
    own = 'metrics["memory"] = torch.cuda.memory_allocated()'
    ours = base.replace("log(metrics)", f"{own}\n                log(metrics)")
    again = "for loader in loaders:\n                    metrics |= evaluate(model, loader)"
    for theirs in (
        base.replace("                metrics |= evaluate(model)\n", ""),
        base.replace("log(metrics)", f"{again}\n                log(metrics)"),
    ):
        assert own in clean(base, ours, theirs)


def test_elements_of_another_form_are_asked_about() -> None:
    loop = "    for row in rows:\n        buffer.append(row)\n"
    base = f"def main(rows):\n    buffer = []\n{loop}    done()\n"
    ours = base.replace("    done()", "    shortest = min(buffer)\n    done(shortest)")
    theirs = base.replace("append(row)", "append((row, mask))")
    assert "the elements of buffer have another form" in asked(base, ours, theirs)


def test_elements_of_a_list_in_another_form_are_asked_about() -> None:
    base = "TASKS = [\n    one,\n    two,\n]\n"
    ours = "TASKS = [\n    (one, 1),\n    (two, 1),\n]\n"
    assert merge(base, ours, base.replace("two,", "two,\n    three,")).conflicts


def test_a_new_return_of_another_form_is_asked_about() -> None:
    base = "def backend():\n    if has_gpu():\n        return 'gpu', 1\n    return 'cpu', 2\n"
    ours = base.replace("    if has", "    if has_xla():\n        return 'xla', 3\n    if has")
    theirs = base.replace("'gpu', 1", "'gpu', 1, use").replace("'cpu', 2", "'cpu', 2, 0")
    assert "the elements of backend() have another form" in asked(base, ours, theirs)
    assert asked(base, theirs, ours)


def test_a_statement_that_becomes_what_stands_beside_it_is_asked_about() -> None:
    base = "def value(self):\n    return self.end - abs(self.progress)\n"
    new = "return self.start + self.progress"
    old = "return self.end - abs(self.progress)"
    ours = base.replace(old, f"if self.saw:\n        {new}\n    else:\n        {old}")
    theirs = base.replace(old, new)
    assert asked(base, ours, theirs) and asked(base, theirs, ours)


def test_a_name_that_stands_beside_the_other_value_is_asked_about() -> None:
    base = """
        def step(self, action):
            reward = self.reward(action)
            done = self.count >= self.length
            return self.state, reward, done, {}
        """
    ours = base.replace("done =", "done = False\n            truncated =")
    ours = ours.replace("reward, done", "reward, done, truncated")
    assert merge(base, ours, ours.replace("done", "terminated")).conflicts


def test_a_block_around_half_of_what_belongs_together_is_asked_about() -> None:
    base = "def main(a):\n    begin(a)\n    save(a)\n    test(a)\n    end(a)\n"
    ours = "def main(a):\n    begin(a)\n    test(a)\n    end(a)\n    save(a)\n"
    theirs = base.replace(
        "    save(a)\n    test(a)\n", "    with ema():\n        save(a)\n        test(a)\n"
    )
    assert "which you moved" in asked(base, ours, theirs)


def test_the_same_statement_at_another_time_is_another_one() -> None:
    base = STEP.replace("        optimizer.zero_grad()\n", "        clear(model)\n")
    ours = base.replace(
        "        loss.backward()\n", "        optimizer.zero_grad()\n        loss.backward()\n"
    )
    merged = merge(base, ours, STEP)
    assert (merged.files["train.py"] or "").count("optimizer.zero_grad()") == 2 or merged.conflicts


PHASES = "def main(m):\n    m.first()\n    m.second()\n    m.third()\n    m.fourth()\n"


@pytest.mark.parametrize("number", ["first", "second", "third", "fourth"])
def test_a_statement_that_the_owner_only_moved_goes_where_it_is_now(number: str) -> None:
    line = f"    m.{number}()\n"
    rest = PHASES.replace(line, "")
    for ours in (rest + line, rest.replace("(m):\n", f"(m):\n{line}"), PHASES):
        assert clean(PHASES, ours, rest) == rest
    words = f"{rest}{line.rstrip()}  # first of all\n"
    assert "# first of all" in (merge(PHASES, words, rest).files["train.py"] or "")


def test_a_field_that_the_owner_moved_into_a_base_class_goes_from_there() -> None:
    moved, kept = (
        "    clip: float = 1.0\n    warmup: int = 3\n",
        "    seed: int = 0\n    tags: str\n",
    )
    base = f"class Config:\n    epochs: int = 1\n{moved}{kept}"
    ours = f"class Optim:\n{moved}\n\nclass Config(Optim):\n    epochs: int = 1\n{kept}"
    clip, decay = "    clip: float = 1.0\n", "    decay: float = 0.9\n"
    assert clean(base, ours, base.replace(clip, "")) == ours.replace(clip, "")
    new = base.replace("    warmup", f"{decay}    warmup")
    assert clean(base, ours, new) == ours.replace("    seed", f"{decay}    seed")
    changed = clean(base, ours, base.replace("clip: float = 1.0", "clip: float = 0.5"))
    assert changed == ours.replace("clip: float = 1.0", "clip: float = 0.5")
    base, ours = (text.replace("    warmup: int = 3\n", "") for text in (base, ours))
    assert "clip goes, which you moved" in asked(base, ours, base.replace(clip, ""))


BRANCHES = """
def main(model, loaders):
    metrics = {}
    if model.is_small:
        metrics |= evaluate(model, loaders[0])
    else:
        metrics |= evaluate(model, loaders[0], 2)
    log(metrics)
"""


EVALUATED = "    metrics |= evaluate(model, loaders[0])\n"
ONCE = f"\ndef main(model, loaders):\n    metrics = {{}}\n{EVALUATED}    log(metrics)\n"


def test_a_change_of_one_of_two_branches_is_asked_about() -> None:
    theirs = ONCE.replace("loaders[0])", "loaders[0], limit=3)")
    assert "you also have metrics in another branch" in asked(ONCE, BRANCHES, theirs)
    assert "last" in clean(ONCE, BRANCHES, ONCE.replace("log(metrics)", "log(metrics, last=1)"))
    assert merge(ONCE, BRANCHES, ONCE.replace(EVALUATED, "")).conflicts


def test_what_comes_after_each_of_two_branches_stands_after_both() -> None:
    theirs = ONCE.replace("    log", "    best.update(metrics, model)\n    log")
    assert "2)\n    best.update(metrics, model)\n    log" in clean(ONCE, BRANCHES, theirs)
    more = BRANCHES.replace("loaders[0])\n", "loaders[0])\n        show(metrics)\n")
    assert "you also have metrics in another branch" in asked(ONCE, more, theirs)


def test_two_own_ends_of_one_condition_are_a_conflict() -> None:
    base = "def f(x):\n    return run(x)\n"
    new = "def f(x):\n    if x:\n        return run(x)\n"
    ours = f"{new}    elif y:\n        return run(y)\n    else:\n        a()\n"
    theirs = f"{new}    else:\n        a()\n        b()\n"
    assert merge(base, ours, theirs).conflicts


def test_what_would_be_no_python_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong in a merge."""
    usual = Assembly._gap

    def wrong(self: Assembly, gap: int) -> list[Piece]:
        return [replace(piece, depth=7, lines=("    " * 7 + "x",)) for piece in usual(self, gap)]

    monkeypatch.setattr(Assembly, "_gap", wrong)
    monkeypatch.setattr(broken_names, "doubt", lambda file, fault: None)
    merged = merge(STEP, STEP + "    done()\n", STEP.replace("    for", "    begin()\n    for"))
    assert len(merged.conflicts) == 1 and "valid Python" in merged.conflicts[0].label


def test_what_comes_after_the_last_line_of_a_loop_is_asked_about() -> None:
    ours = ONCE.replace(EVALUATED, f"    for name in loaders:\n    {EVALUATED}")
    theirs = ONCE.replace("    log", "    best.update(metrics, model)\n    log")
    assert "each round of your loop" in asked(ONCE, ours, theirs)


def test_rows_of_yaml_with_other_keys_are_other_rows() -> None:
    base, own = "cpu: false\ngpus: 'all'\nrank: 0\n", "cpu: false\ngpus: '2,3'\nrank: 0\n"
    theirs = "cpu: false\nplan:\n  policy: 'BASED'\n  size: 2\nrank: 0\n"
    merged = merge(base, own, theirs, "accelerate.yaml")
    text = merged.files["accelerate.yaml"] or ""
    ours = take_side(text, True)
    assert len(merged.conflicts) == 1 and "gpus: '2,3'" in ours
    assert ours.count("policy") == ours.count("size") == ours.count("plan")


def test_new_files_call_renamed_methods_of_the_same_objects() -> None:
    train = "def main(checkpoints):\n    checkpoints.save()\n    checkpoints.save()\n"
    signals = "def stop(checkpoints, image):\n    checkpoints.save()\n    image.save()\n"
    ours = train.replace("save", "store")
    merged = project(
        {"train.py": train}, {"train.py": ours}, {"train.py": train, "signals.py": signals}
    )
    assert merged.files["signals.py"] == signals.replace("checkpoints.save", "checkpoints.store")


def test_a_new_line_behind_what_it_is_for_is_asked_about() -> None:
    base = "def main(model, m):\n    m.save(model)\n    found = test(model)\n    m.log(found)\n"
    ours = "def main(model, m):\n    found = test(model)\n    m.save(model)\n    m.log(found)\n"
    theirs = base.replace("    m.save", "    best_model.load(model)\n    m.save")
    assert "it would come after found, which you moved" in asked(base, ours, theirs)
    quiet = base.replace("    m.save", "    m.flush()\n    m.save")
    assert "    m.flush()\n    m.save(model)" in clean(base, ours, quiet)


@pytest.mark.parametrize("first", ["optimizer.step()", "schedule.tell()"])
def test_a_line_that_goes_and_that_the_owner_does_for_each_of_several_is_asked_about(
    first: str,
) -> None:
    line, head = "        schedule.step()\n", "        for optimizer, schedule in pairs:\n"
    ours = f"{STEP}{head}            {first}\n    {line}"
    assert "(schedule is one of several here)" in asked(f"{STEP}{line}", ours, STEP)


def test_own_work_on_weights_in_another_function_sees_its_own_ones() -> None:
    base = "def test_one():\n    assert run()\n"
    own = "def test_layer():\n    model = Linear(2, 2)\n    nn.init.constant_(model.weight, 1)\n"
    new = "def test_ema():\n    ema = Ema()\n    with ema.applied():\n        assert run()\n"
    assert new in clean(base, f"{base}\n\n{own}", f"{base}\n\n{new}")


def test_a_line_that_would_leave_another_loop_is_asked_about() -> None:
    skips = "        if loss.isnan():\n            continue\n"
    ours = STEP.replace("        loss.backward()", f"{skips}        loss.backward()")
    theirs = STEP.replace("for batch in", "for whole in").replace(
        "        loss = model(batch)\n        loss.backward()\n",
        "        for batch in whole:\n            loss = model(batch)\n"
        "            loss.backward()\n",
    )
    assert "it would leave another loop" in str(merge(STEP, ours, theirs).conflicts)
    lasts = ours.replace("            continue\n", "            last = loss\n")
    assert "                last = loss\n" in clean(STEP, lasts, theirs)


def test_a_break_that_would_leave_another_loop_of_its_owner_is_asked_about() -> None:
    base = """
        def main(loader, epochs):
            for epoch in range(epochs):
                for batch in loader:
                    train(batch)
                evaluate(epoch)
        """
    ours = """
        def main(loader, epochs):
            batches = iter(loader)
            while epochs.left():
                batch = next(batches)
                train(batch)
                if epochs.is_over():
                    evaluate(epochs.now())
        """
    stop = "train(batch)\n                    if stopped():\n                        break\n"
    assert "it would end up in another block" in asked(
        base, ours, base.replace("train(batch)\n", stop)
    )
    ours = base.replace("for batch in loader", "for step, batch in enumerate(loader)")
    clean(base, ours, base.replace("train(batch)\n", stop))


FINISH = """\
def main(model, loader, folder):
    train(model, loader)
    save_model(model, folder)
    metrics = evaluate(model, loader)
    log(metrics)
    return metrics
"""


def test_a_new_line_stays_below_what_it_reads_where_lines_around_that_are_moved() -> None:
    base = FINISH.replace("    return", "    copy_files(model, folder)\n    return")
    parts = "    save_model(model, folder)\n    copy_files(model, folder)\n"
    own = f"def export(model, folder):\n{parts}"
    ours = f"{own}\n\n{FINISH.replace('save_model(', 'export(')}"
    theirs = base.replace("log(metrics)\n", "log(metrics)\n    append(metrics)\n")
    text = clean(base, ours, theirs)
    assert text.index("evaluate(") < text.index("append(metrics)") < text.index("return metrics")


def test_two_objects_of_one_class_of_two_words_have_one_purpose() -> None:
    base = "def main(config):\n    model = build(config)\n    train(model)\n    test(model)\n"
    stopping = "    stopping = EarlyStopping(config)\n    train(model)\n    stopping.update()\n"
    early = "    early = EarlyStopping(config, 1)\n    test(model)\n    early.update()\n"
    ours = base.replace("    train(model)\n", stopping)
    theirs = base.replace("    test(model)\n", early)
    assert merge(base, ours, theirs).conflicts
    clean(base, ours.replace("EarlyStopping", "Timer"), theirs.replace("EarlyStopping", "Timer"))


def test_a_message_of_what_goes_makes_one_conflict_of_its_own() -> None:
    theirs = """
        def main(loader, log):
            for batch in loader:
                train(batch)
            check(loader)
            end(loader)
        """
    base = theirs.replace("train(batch)", "train(batch)\n                early.update(batch)")
    base = base.replace("            for", "            early = Early()\n            for").replace(
        "            end(",
        '            if early.stop:\n                log("over")\n            end(',
    )
    ours = base.replace('log("over")', 'why = "over"\n                log(why, early.stale)')
    assert asked(base, ours, theirs) == "the update"
    used = ours.replace("end(loader)", "end(loader, why)")
    assert asked(base, used, theirs) == "the update (early would be undefined)"


def test_one_condition_that_ends_on_one_side_only_is_asked_about() -> None:
    base = "def check(config):\n    read(config)\n"
    ours = base + "    if config.bad:\n        raise ValueError(config)\n"
    theirs = base + "    if config.bad:\n        warn(config)\n"
    assert asked(base, ours, theirs) == "the update"
    clean(base, ours.replace("raise ValueError", "note"), theirs)


IN_MAIN = """
def main(config):
    model = build(config)
    loader = read(config)
    log, bar = start(config)
    for epoch in range(9):
        model.train()
        bar.start(epoch)
        for batch in loader:
            loss = model(batch)
            loss.backward()
            log.add(loss)
            bar.tick()
        values = log.read()
        bar.stop()
        write(values)
    save(model)
    bar.end()
    return values
"""
IN_METHODS = """
class Run:
    def __init__(self, *parts):
        self.model, self.loader, self.log, self.bar = parts

    def epochs(self):
        for epoch in range(9):
            self.model.train()
            self.bar.start(epoch)
            for batch in self.loader:
                self.step(batch)
            self.end()

    def step(self, batch):
        loss = self.model(batch)
        loss.backward()
        self.log.add(loss)
        self.bar.tick()

    def end(self):
        values = self.log.read()
        self.bar.stop()
        write(values)


def main(config):
    model = build(config)
    loader = read(config)
    log, bar = start(config)
    return Run(model, loader, log, bar).epochs()
"""
SHORTENED = """<<<<<<< yours
||||||| previously generated
    for epoch in range(9):
        bar.stop()
=======
    for epoch in range(9):
        bar.stop()
        print(values)
>>>>>>> the update; of code that you moved, only what changes
"""


def test_of_a_loop_that_its_owner_moved_a_conflict_shows_what_changes() -> None:
    """Also if the new line only logs what is computed elsewhere now."""
    merged = merge(
        IN_MAIN, IN_METHODS, IN_MAIN.replace("bar.stop()\n", "bar.stop()\n        print(values)\n")
    )
    assert SHORTENED in (merged.files["train.py"] or "")
    deleted = IN_METHODS[IN_METHODS.index("def main") :]
    merged = merge(IN_MAIN, deleted, IN_MAIN.replace("log.add(loss)", "log.add(loss, 2)"))
    assert "        model.train()\n" in (merged.files["train.py"] or ""), "it is nowhere else"


def test_of_a_loop_in_functions_of_its_owner_only_what_changes_is_shown() -> None:
    loop = IN_MAIN[IN_MAIN.index("    for epoch") : IN_MAIN.index("    bar.end")]
    methods = IN_METHODS[IN_METHODS.index("    def epochs") : IN_METHODS.index("\n\ndef main")]
    base, theirs = (split(side, PYTHON) for side in (loop, loop.replace("model.tr", "model.tr_")))
    shown = shorten(split(methods, PYTHON), (base, theirs), ())
    assert [[unit.text.strip() for unit in side] for side in shown] == [
        ["for epoch in range(9):", "model.train()", "bar.start(epoch)"],
        ["for epoch in range(9):", "model.tr_ain()", "bar.start(epoch)"],
    ]
    others = "def epochs(self):\n    return fit(self, 9, callbacks=[Bar()], verbose=True)\n"
    assert shorten(split(others, PYTHON), (base, theirs), ()) == (base, theirs), "it is not there"


def test_of_functions_that_go_only_those_are_shown_that_an_edited_one_needs() -> None:
    rates = "def rates(steps):\n    return list(steps)\n\n\n"
    clips = "def test_clips():\n    steps = clip(1)\n    assert steps\n\n\n"
    plain = "def test_rates():\n    steps = rates(1)\n    assert steps\n\n\n"
    course = "def test_course():\n    steps = rates(2)\n    assert steps\n"
    theirs = "def test_all():\n    assert run()\n"
    base = f"{theirs}\n\n{clips}{rates}{plain}{course}"
    merged = merge(base, base.replace("rates(2)", "rates(3)"), theirs)
    assert len(merged.conflicts) == 2
    text = merged.files["train.py"] or ""
    assert text.count("def rates") == text.count("def test_course") == 2
    assert "def test_clips" not in text and "def test_rates" not in text


def test_another_call_in_place_of_the_first_moved_line_goes_into_the_function_too() -> None:
    base = FINISH.replace("main(", "main(accelerator, ").replace("save_", "accelerator.save_")
    start, end = base.index("    accelerator.save_model"), base.index("    return")
    given = "finish(accelerator, model, loader, folder)"
    ours = f"{base[:start]}    metrics = {given}\n{base[end:]}\n\ndef {given}:\n{base[start:]}"
    save = 'average()\n    save_weights(accelerator, model, folder / "last")'
    text = clean(base, ours, base.replace("accelerator.save_model(model, folder)", save))
    assert text.index("average") < text.index("def finish") < text.index("save_weights")


def test_a_deleted_attribute_that_an_own_method_reads_is_asked_about() -> None:
    base = """
        class Run:
            def __init__(self, config):
                self.config = config
                self.file = open(config.path)
                self.steps = 0
        """
    note = "            def note(self):\n                self.file.write(self.steps)\n"
    ours = f"{base.rstrip()}\n\n{note}"
    theirs = base.replace("        self.file = open(config.path)\n", "")
    assert "self.file would be undefined" in asked(base, ours, theirs)
    clean(base, ours.replace("self.file.write", "print"), theirs)
    clean(
        base,
        ours.replace("def note(self):", "def note(self):\n                self.file = 1"),
        theirs,
    )


@pytest.mark.parametrize("ours", [True, False])
def test_a_line_of_one_side_is_found_among_the_markers(ours: bool) -> None:
    rows = [*frame(["b", "c"], ["d"], [], "one"), "e", *frame([], ["f"], ["g"], "two"), "h", ""]
    text = "\n".join(["a", *rows])
    kept = take_side(text, ours).split("\n")
    assert kept == (["a", "b", "c", "e", "h", ""] if ours else ["a", "e", "g", "h", ""])
    lines = text.split("\n")
    assert [lines[line_among_markers(text, ours, n + 1) - 1] for n in range(len(kept))] == kept


def test_what_both_bind_anew_has_an_order() -> None:
    base = "def build(config):\n    train, val = read(config)\n    return load(train, val)\n"
    ours = base.replace("    return", "    train = Augmented(train)\n    return")
    theirs = base.replace("    return", "    train, val = take_fold(train, val)\n    return")
    assert len(merge(base, ours, theirs).conflicts) == 1
    counts = base.replace("    return", "    count(train)\n    return")
    assert clean(base, ours, counts).count("train") > 4


SIGNATURE = "def step(model, batch):\n    return model(batch)\n\n\nstep(model, batch)\n"


@pytest.mark.parametrize(
    ("old", "own", "merged"),
    [
        ("(model, batch)", "(writer, model, batch)", "(writer, model, batch, ema)"),
        ("batch):", "batch) -> float:", "(model, batch, ema) -> float:"),
        ("batch):", "batch: Batch):", "(model, batch: Batch, ema):"),
        (
            "(model, batch):",
            "(\n    model,\n    batch,\n) -> float:",
            "(\n    model,\n    batch,\n    ema,\n) -> float:",
        ),
    ],
)
def test_parameters_of_both_sides_go_together(old: str, own: str, merged: str) -> None:
    theirs = SIGNATURE.replace("batch)", "batch, ema)").replace("model(batch, ema)", "model(batch)")
    first = SIGNATURE.replace(old, own).replace("model(writer, model, batch)", "model(batch)")
    text = clean(SIGNATURE, first, theirs)
    assert text.startswith(f"def step{merged}") and text.count("ema") == 2


def test_the_same_lines_of_both_sides_with_a_comment_of_the_owner() -> None:
    base = "def main(first):\n    begin()\n    run()\n"
    lines = "    mix = True\n    if first:\n        mix = False\n"
    theirs = base.replace("    run", f"{lines}    run")
    ours = theirs.replace("    mix = True", "    # not in the first epoch\n    mix = True")
    assert clean(base, ours, theirs) == ours


RELATIVE = "from ..steps import Crop, Pad\nfrom . import names, tools\n\n\n"


def test_imports_come_back_with_their_dots() -> None:
    """The owner no longer uses two names, and the update uses them once more."""
    base = f"{RELATIVE}def run(x):\n    return names.of(Pad(Crop(tools.cut(x))))\n"
    ours = base.replace("Crop, ", "").replace(", tools", "").replace("Crop(tools.cut(x))", "x")
    new = "\n\ndef crop(x):\n    return Crop(tools.cut(x))\n"
    assert (
        clean(base, ours, base + new, "net/inner/data.py")
        == ours.replace(ours[: ours.index("\n\n\n")], RELATIVE.rstrip()) + new
    )


def test_the_same_imports_in_another_order_are_there_once() -> None:
    base = "import json\n\n\ndef f(x):\n    return json.dumps(x)\n"
    ours = base.replace("json\n", "json\nimport numpy\nimport pandas\nimport re\n", 1)
    ours = ours.replace("(x)\n", "(re.sub(x, numpy.array(x), pandas.array(x)))\n")
    theirs = base.replace("json\n", "json\nimport pandas\nimport numpy\n", 1)
    theirs += "\n\ndef g(x):\n    return numpy.array(x), pandas.array(x)\n"
    theirs = theirs.replace("def f(x):", "def f(x) -> str:")
    text = clean(base, ours, theirs)
    assert text.count("import numpy") == text.count("import pandas") == 1 and "def g" in text


def test_a_new_function_below_one_that_the_owner_deleted_is_no_question() -> None:
    base = "def one(x):\n    return x\n\n\ndef two(x):\n    return 2 * x\n"
    ours = "def one(x):\n    return x\n"
    assert clean(base, ours, base + "\n\ndef three(x):\n    return 3 * x\n") == (
        ours + "\n\ndef three(x):\n    return 3 * x\n"
    )


@pytest.mark.parametrize("place", ["start", "end"])
def test_an_option_that_both_sides_add_is_asked_about(place: str) -> None:
    base = 'parser.add_argument("--net", default=1)\nparser.add_argument("--size", default=2)\n'
    ours, theirs = (f'parser.add_argument("--rows", default={n})\n' for n in (3, 4))
    first, _, last = base.partition("\n")
    ours = f"{first}\n{ours}{last}"
    theirs = f"{first}\n{theirs}{last}" if place == "start" else base + theirs
    asked(base, ours, theirs)


def test_a_hint_of_one_variable_is_no_other_statement() -> None:
    base = (
        "def main():\n    accelerator = Accelerator(\n        seed=1\n    )\n    run(accelerator)\n"
    )
    ours = base.replace("accelerator =", "accelerator: Accelerator =")
    theirs = base.replace("seed=1", "seed=1, steps=4")
    assert "accelerator: Accelerator = Accelerator(" in clean(base, ours, theirs)
    assert "steps=4" in clean(base, ours, theirs)


def test_a_global_of_the_owner_stays_the_first_line() -> None:
    base = "def main(config):\n    run(config)\n"
    ours = base.replace("    run", "    global best\n    run")
    theirs = base.replace("    run", "    if config.bad:\n        raise ValueError\n    run")
    assert clean(base, ours, theirs).startswith("def main(config):\n    global best\n    if ")


def test_a_new_line_comes_before_what_is_prepared() -> None:
    base = """
        def main(accelerator):
            model = build()
            optimizer = adam(model)
            model, optimizer = accelerator.prepare(model, optimizer)
            train(model, optimizer)
        """
    ours = base.replace("optimizer = adam(model)\n", "model = accelerator.prepare(model)\n")
    ours = ours.replace(
        "model, optimizer = accelerator.prepare(model, optimizer)",
        "optimizer = accelerator.prepare(adam(model))",
    )
    theirs = base.replace(
        "optimizer = adam", "model = model.to(last)\n            optimizer = adam"
    )
    text = clean(base, ours, theirs)
    assert text.index("model.to(last)") < text.index("accelerator.prepare(model)")


def test_both_sides_add_to_a_dict() -> None:
    base = 'def f(a, b, c):\n    return {"loss": a, "accuracy": b}\n'
    ours = base.replace('"accuracy": b', '"accuracy": b, "own": c')
    theirs = base.replace('"accuracy": b', '"accuracy": b, **b.more()')
    text = clean(base, ours, theirs)
    assert '"own": c' in text and "**b.more()" in text


VALUES = """
def main(model, loaders):
    metrics = {"loss": 1}
    metrics |= evaluate(model, loaders[0])
    log(metrics)
    save(model)
    metrics = evaluate(model, loaders[1])
    log(metrics)
    end(model)
"""


def test_a_value_that_the_owner_computes_elsewhere_or_otherwise_is_no_other_value() -> None:
    test = "    metrics = evaluate(model, loaders[1])\n"
    moved = VALUES.replace(test, "").replace("    save", f"{test}    save")
    theirs = VALUES.replace("    end", "    track(metrics)\n    end")
    assert "    track(metrics)\n" in clean(VALUES, moved, theirs)
    inlined = VALUES.replace(
        "    metrics |= evaluate(model, loaders[0])\n",
        '    for row in loaders[0]:\n        hits = model(row)\n    metrics["hits"] = hits\n',
    )
    theirs = VALUES.replace("    save", "    best.keep(metrics)\n    save")
    assert "    best.keep(metrics)\n" in clean(VALUES, inlined, theirs)


def test_a_definition_that_the_owner_moved_into_an_own_file_is_followed() -> None:
    """Also where it goes, and where it gets another name for itself."""
    plan = "def plan(n):\n    return n * 2\n"
    score = "def score(x):\n    return helper(x)\n"
    rest = "\n\ndef main(n):\n    return plan(n), score(n)\n"
    base = f"from helpers import helper\n\n\n{plan}\n\n{score}{rest}"
    ours = {"train.py": f"from own import plan, score{rest}"}
    ours["own.py"] = f"from helpers import helper\n\n\n{plan}\n\n{score}"
    theirs = base.replace(f"{plan}\n\n", "").replace("plan(n), ", "")
    theirs = theirs.replace(score, f"{score}\n\nscore = shared(score)\n").replace(
        "import helper", "import helper, shared"
    )
    merged = project({"train.py": base}, ours, {"train.py": theirs})
    assert not merged.conflicts and not merged.warnings
    assert "def plan" not in (merged.files["own.py"] or "")
    assert (merged.files["own.py"] or "").endswith(f"{score}\n\nscore = shared(score)\n")
    changed = {**ours, "own.py": ours["own.py"].replace("n * 2", "n * 3")}
    merged = project({"train.py": base}, changed, {"train.py": theirs})
    assert merged.conflicts and "n * 3" in (merged.files["own.py"] or "")
    used = {**ours, "plot.py": "from own import plan\n\nprint(plan)\n"}
    merged = project({"train.py": base}, used, {"train.py": theirs})
    assert "def plan" in (merged.files["own.py"] or "")


def test_what_the_owner_moved_to_another_file_is_imported_from_there() -> None:
    plan, rest = "def plan(n):\n    return n * 2\n", "def rest():\n    return 1\n"
    base = {"tools.py": f"{plan}\n\n{rest}"}
    theirs = {**base, "run.py": "from tools import plan, rest\n\nplan(rest())\n"}
    merged = project(base, {"tools.py": rest, "plans.py": plan}, theirs)
    moved = "from plans import plan\nfrom tools import rest\n\nplan(rest())\n"
    assert merged.files["run.py"] == moved and not merged.warnings
    package = {
        "tools.py": rest,
        "own/plans.py": plan,
        "own/__init__.py": "from .plans import plan\n",
    }
    text = project(base, package, theirs).files["run.py"]
    assert text == moved.replace("plans import plan", "own.plans import plan")
    kept = {"tools.py": f"from plans import plan as plan\n\n{rest}", "plans.py": plan}
    assert project(base, kept, theirs).files["run.py"] == theirs["run.py"], "it is still there"


def test_a_parameter_is_read_as_such_until_it_is_an_attribute() -> None:
    base = """
        def main(config):
            accelerator = Accelerator(seed=config.seed)
            config = share(config)
        """
    ours = """
        class Trainer:
            def __init__(self, config):
                self.accelerator = Accelerator(seed=config.seed)
                self.config = share(config)


        def main(config):
            Trainer(config)
        """
    theirs = base.replace("config.seed", "config.seed, steps=config.steps").replace(
        "config = share(config)", "check(accelerator)\n            config = share(config)[0]"
    )
    text = clean(base, ours, theirs)
    assert "Accelerator(seed=config.seed, steps=config.steps)" in text
    assert "check(self.accelerator)\n        self.config = share(config)[0]\n" in text


def test_a_name_at_the_top_is_asked_about_where_it_is_that_name() -> None:
    """A function with a parameter of this name has nothing to do with it."""
    start = 'if __name__ == "__main__":\n    '
    base = f"def main(config):\n    train(config)\n\n\n{start}main(read())\n"
    own = f"{start}config = read()\n    for seed in range(3):\n        main(config.with_(seed))\n"
    ours = base.replace(f"{start}main(read())\n", own)
    theirs = base.replace("main(read())", "config = parse()\n    main(config)").replace(
        "train(config)", "train(share(config))"
    )
    merged = merge(base, ours, theirs)
    assert len(merged.conflicts) == 1, merged
    head, _, conflict = (merged.files["train.py"] or "").partition("<<<<<<<")
    assert head == f"def main(config):\n    train(share(config))\n\n\n{start.strip()}\n"
    assert "config = parse()" in conflict and "for seed in range(3):" in conflict


CONFIG = "class Config:\n    seed: int = 0\n    steps: int = 4\n"
STEPS = "from config import Config\nfrom tools import plug\n\n\ndef main(config: Config):\n"


def test_a_field_that_is_still_used_is_asked_about_where_it_goes() -> None:
    """And nowhere else: with the owner's side there, all files are whole."""
    train = STEPS + "    plug(config.steps)\n    print(1)\n"
    merged = project(
        {"config.py": CONFIG, "train.py": train},
        {"config.py": CONFIG, "train.py": train + "    print(2 * config.steps)\n"},
        {
            "config.py": CONFIG.replace("    steps: int = 4\n", ""),
            "train.py": train.replace("from tools import plug\n", "").replace(
                "    plug(config.steps)\n", ""
            ),
        },
    )
    assert [conflict.path for conflict in merged.conflicts] == ["config.py"]
    assert take_side(merged.files["config.py"] or "", True) == CONFIG
    assert "plug" not in (merged.files["train.py"] or "")


def test_two_blocks_that_lose_their_bodies_go_whatever_their_conditions() -> None:
    base = """
        def main(a, b, save):
            print(1)
            if a == 1 and b:
                save()
            print(3)
            if a == 2 and b:
                save()
            print(5)
    """
    ours = base.replace("a == 1 and b", "due(1, a)").replace("a == 2 and b", "due(2, a)")
    theirs = """
        def main(a, b, save):
            print(10)
            print(3)
            print(50)
    """
    due = "def due(a, b):\n    return a == b\n\n\n"
    assert clean(base, due + dedent(ours), theirs).endswith(dedent(theirs))


ENDING = """
    def main(model, save, evaluate, loader, folder):
        train(model)
        OWN
        save(model, folder)
        print(evaluate(model, loader))
"""
AVERAGED = {
    "a function": ("average_last(model, folder)", True),
    "a loop": ("for a, b in zip(model.parameters(), last):\n            a.data.add_(b)", True),
    "loaded": ("model.load_state_dict(average(folder))", True),
    "in a block": ("if main:\n            norm = sum(model.parameters())", True),
    "shown": ("print(model)", False),
    "of something else": ("count = count_parameters(model)", False),
}


@pytest.mark.parametrize("name", AVERAGED)
@pytest.mark.parametrize("weights", ["with ema.applied():", "best_model.load(model)"])
def test_own_weights_just_before_others_take_their_place(name: str, weights: str) -> None:
    own, asks = AVERAGED[name]
    base, ours = ENDING.replace("        OWN\n", ""), ENDING.replace("OWN", own)
    theirs = ENDING.replace("OWN", weights)
    if weights.startswith("with"):
        theirs = theirs.replace("        save(", "            save(")
        theirs = theirs.replace("        print(", "            print(")
    merged = merge(base, ours, theirs)
    reasons = [conflict for conflict in map(str, merged.conflicts) if "would not see" in conflict]
    assert bool(reasons) is asks and bool(merged.conflicts) is asks


# what is wrong after an update is told


SHARED = """
from dataclasses import dataclass, replace
from accelerate.utils import broadcast_object_list

@dataclass
class Config:
    seed: int = 0
    clip: float = 0.1

def main(config: Config):
    config = replace(config, seed=1)
    config = broadcast_object_list([config])[0]
"""
METRICS = "def main():\n    metrics = {'val_loss': 1}\n    print(metrics)\n"
WRONG = {
    "a key that is nowhere": (
        METRICS,
        f"{METRICS.replace('val_', '')}    stop(metrics['val_loss'])\n",
        f"{METRICS}    stop(metrics['val_loss'])\n",
        "train.py:4: metrics has no 'val_loss' here, as this line needs",
    ),
    "an argument that a function lacks": (
        "def f(a):\n    return a\n\n\nf(1)\n",
        "def f(a):\n    return a\n\n\nf(1, b=2)\n",
        "def f(a, b):\n    return a\n\n\nf(1, b=2)\n",
        "train.py:5: f(b=...): f has no argument b",
    ),
    "a field in a dict": (
        f"{SHARED}    print(1)\n\nsettings = {{'clip': 1}}\nConfig(**settings)\n",
        f"{SHARED.replace('clip', 'norm')}\nsettings = {{'clip': 1}}\nConfig(**settings)\n",
        SHARED.replace("clip", "norm"),
        "train.py:15: Config(clip=...): Config has no field clip",
    ),
    "an argument that is given twice": (
        "def f(a, b):\n    return a\n\n\nf(1, 2)\n",
        "def f(a, b):\n    return a\n\n\nf(1, 2, b=2)\n",
        "def f(a, b):\n    return a\n\n\nf(1, b=2)\n",
        "train.py:5: f(...) gets b twice",
    ),
    "a field of what all processes share": (
        f"{SHARED}    print(config.seed)\n",
        f"{SHARED.replace('clip', 'norm')}    print(config.seed)\n    print(config.clip)\n",
        f"{SHARED}    print(config.seed)\n    print(config.clip)\n",
        "train.py:14: config.clip: Config has no clip",
    ),
    "a name that is only set under a condition": (
        "def main(b):\n    for c in b:\n        a = c\n    print(a)\n",
        "def main(b):\n    for c in b:\n        if c:\n            a = c\n    print(a)\n",
        "def main(b):\n    for c in b:\n        if c:\n            print(c)\n",
        "train.py:5: the name a may not be set here",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_newly_wrong_is_told(name: str) -> None:
    before, after, rendered, said = WRONG[name]
    found = find_new_wrongs(*({"train.py": text} for text in (before, after, rendered)))
    assert list(map(str, found)) == [said]


NAMED = """
def evaluate(name):
    found = {"loss": 1}
    return RESULT


def main():
    metrics = evaluate("val")
    print(metrics)
"""


@pytest.mark.parametrize(
    "result",
    [
        '{f"{name}_nll": 1}',
        '{name + "_nll": 1}',
        '{"%s_nll" % name: 1}',
        '{f"{name}/{key}": value for key, value in found.items()}',
        "dict(found)",
    ],
)
def test_a_key_that_is_put_together_is_known(result: str) -> None:
    """A new line that reads another key is told, and one that reads this key is not."""
    usual = NAMED.replace("RESULT", '{f"{name}_loss": 1}')
    before, rendered = NAMED.replace("RESULT", result), f"{usual}    stop(metrics['val_loss'])\n"
    after = f"{before}    stop(metrics['val_loss'])\n"
    found = find_new_wrongs(*({"train.py": text} for text in (before, after, rendered)))
    assert list(map(str, found)) == [
        "train.py:10: metrics has no 'val_loss' here, as this line needs"
    ]
    same = '{f"{name}_{key}": value for key, value in found.items()}'
    before = NAMED.replace("RESULT", same)
    after = f"{before}    stop(metrics['val_loss'])\n"
    assert not find_new_wrongs(*({"train.py": text} for text in (before, after, rendered)))


def test_files_that_come_to_import_each_other_are_told() -> None:
    """The owner put weights.py into train.py, and an update needs it in callbacks.py."""
    train = "from weights import save\n\nsave()\n"
    weights = "def save():\n    return 1\n"
    callbacks = "from weights import save\n\n\ndef keep():\n    save()\n"
    merged = project(
        {"train.py": train, "weights.py": weights},
        {"train.py": f"{weights}\n\nsave()\n"},
        {
            "train.py": f"from callbacks import keep\n{train}keep()\n",
            "weights.py": weights.replace("1", "2"),
            "callbacks.py": callbacks,
        },
    )
    assert "callbacks.py:1: it imports train.py, which imports callbacks.py" in merged.warnings


def test_what_the_owner_passes_in_place_of_a_class_has_to_have_what_is_read() -> None:
    """An own class for saving, in place of the one that a new file declares and reads."""
    train = "from checkpoint import Checkpoints\n\ncheckpoints = Checkpoints()\n"
    checkpoint = "class Checkpoints:\n    states = {}\n"
    ours = train.replace("checkpoint import Checkpoints", "saving import Saver")
    new = "def watch(checkpoints: Checkpoints):\n    return checkpoints.states\n"
    merged = project(
        {"train.py": train, "checkpoint.py": checkpoint},
        {
            "train.py": ours.replace("Checkpoints()", "Saver()"),
            "checkpoint.py": checkpoint,
            "saving.py": "class Saver:\n    def save(self): ...\n",
        },
        {
            "train.py": f"from watch import watch\n\n{train}watch(checkpoints)\n",
            "checkpoint.py": checkpoint,
            "watch.py": f"from checkpoint import Checkpoints\n\n\n{new}",
        },
    )
    assert merged.warnings == ["watch.py:5: checkpoints.states: Saver has no states"]


def test_a_call_that_the_owner_has_twice_is_asked_about_if_one_changes() -> None:
    base = "def main(x, y):\n    loss = compute(x, y)\n    step(loss)\n"
    ours = base.replace("    step", "    loss = loss + 0.5 * compute(-x, y)\n    step")
    theirs = base.replace("(x, y)\n    step", "(x, y, smooth=0.1)\n    step")
    assert "you also call compute() in another place" in asked(base, ours, theirs)
    done = ours.replace("(-x, y)", "(-x, y, smooth=0.1)")
    assert "compute(x, y, smooth=0.1)" in clean(base, done.replace("-x", "x"), theirs)
    assert "0.5 * evaluate(-x, y)" in clean(base, ours.replace("compute(-", "evaluate(-"), theirs)


def test_a_new_line_stands_below_what_it_uses_in_the_owners_order() -> None:
    """Imports in another order took the line below the last one along, to above the others."""
    first, second = "from losses import compute\n", "from metrics import log\n"
    base, ours = (
        f"{rows}\n\ndef main():\n    log(compute())\n" for rows in (first + second, second + first)
    )
    theirs = base.replace("import log\n", "import Outputs, log\n\noutputs = Outputs()\n")
    text = clean(base, ours, theirs)
    names = ["import Outputs, log\n", "import compute\n", "outputs = Outputs()\n", "def main"]
    assert [text.index(name) for name in names] == sorted(text.index(name) for name in names)


def test_lines_below_output_that_the_owner_deleted_are_no_question() -> None:
    lines = "        count(step)\n        bar.set_postfix(step=step)\n"
    base = f"def main(bar, steps):\n    for step in steps:\n{lines}"
    ours = base.replace("        bar.set_postfix(step=step)\n", "")
    theirs = f"{base}        agree()\n"
    assert clean(base, ours, theirs) == f"{ours}        agree()\n"
    saves, theirs = (text.replace("bar.set_postfix", "save") for text in (base, theirs))
    assert asked(saves, ours, theirs)  # what was saved may be what they are about


def test_a_renamed_parameter_is_followed_where_it_is_used_once() -> None:
    base = "from model import Net\n\n\ndef build(model):\n    return AdamW(model.parameters())\n"
    ours = base.replace("model)", "net)").replace("model.", "net.")
    theirs = base.replace("model.parameters()", "group(model, 0.9)")
    assert "AdamW(group(net, 0.9))" in clean(base, ours, theirs)


def test_a_renamed_object_is_not_taken_for_other_output() -> None:
    base = """
        def main(accelerator, config):
            ema = Ema(accelerator.model, config.decay)
            accelerator.log(1, step=1)
            accelerator.log(2, step=2)
    """
    gone = dedent(base).replace("    ema = Ema(accelerator.model, config.decay)\n", "")
    ours = base.replace("accelerator", "acc")
    assert clean(base, ours, gone) == gone.replace("accelerator", "acc").lstrip("\n")


EXTRACTED = """
def train_step(model, batch, config):
    loss = model(batch)
    loss.backward()
    if config.clip:
        clip_grad_norm_(model.parameters(), config.clip)
    return loss


def main(model, batches, config):
    for batch in batches:
        loss = train_step(model, batch, config)
        mean.add(loss)
"""


def test_lines_that_the_owner_moved_into_a_new_function_change_and_go_there() -> None:
    """One line between them stayed, so that they are not one part."""
    base = """
        def main(model, batches, config):
            for batch in batches:
                loss = model(batch)
                mean.add(loss)
                loss.backward()
                if config.clip:
                    clip_grad_norm_(model.parameters(), config.clip)
    """
    changed = clean(base, EXTRACTED, base.replace("model(batch)", "model(batch, smooth=0.1)"))
    assert changed == EXTRACTED.lstrip("\n").replace("model(batch)", "model(batch, smooth=0.1)")
    clip = "        if config.clip:\n            clip_grad_norm_(model.parameters(), config.clip)\n"
    gone = clean(base, EXTRACTED, dedent(base).replace(clip, ""))
    assert gone == EXTRACTED.lstrip("\n").replace(indent(dedent(clip), "    "), "")
    more = clean(base, EXTRACTED, base.replace("if config", "log(1)\n                if config"))
    assert more == EXTRACTED.lstrip("\n").replace("    if config", "    log(1)\n    if config")


def test_an_argument_that_comes_twice_is_told() -> None:
    """One of the owner's, and one in a dict that a new function returns. It is no syntax error."""
    base = "def load(data):\n    return DataLoader(data, batch_size=8)\n"
    new = 'def settings(data):\n    return {"pin_memory": True, "timeout": 1}\n'
    theirs = f"{new}\n\n{base.replace('=8', '=8, **settings(data)')}"
    ours = base.replace("=8", "=8, pin_memory=False")
    assert merge(base, ours, theirs).warnings == [
        "train.py:6: DataLoader(...) gets pin_memory twice"
    ]
    assert not merge(base, ours.replace("pin_memory", "drop_last"), theirs).warnings


def test_new_calls_of_a_function_whose_arguments_the_owner_reordered_are_told() -> None:
    base = "def score(model, data):\n    return model(data)\n\n\nprint(score(net, test))\n"
    ours = base.replace("model, data", "data, model").replace("net, test", "test, net")
    theirs = base.replace("\n\n\nprint", "\n\n\nfirst = score(net, val)\nprint")
    assert merge(base, ours, theirs).warnings == ["train.py:5: score(...) passes net as data"]


def test_what_trains_or_saves_stays_out_of_a_block_with_averaged_weights() -> None:
    base = "def main(model):\n    for epoch in data:\n        m = evaluate(model)\n        log(m)\n"
    theirs = base.replace(
        "        m = evaluate(model)\n",
        "        with ema.applied():\n            m = evaluate(model)\n",
    )
    lines = "        checkpoints.save()\n        count += 1\n"
    saves = base.replace("        log", f"{lines}        log")
    assert f"\n{lines}" in clean(base, saves, theirs)
    lines = "        # one more\n        checkpoints.save()\n"
    assert f"\n{lines}" in clean(base, base.replace("        log", f"{lines}        log"), theirs)
    shows = base.replace("        log", "        m |= more(model)\n        log")
    assert "\n            m |= more(model)\n" in clean(base, shows, theirs)
    prune = "def prune(model):\n    model.weight.data *= 0.9\n\n\n"
    prunes = prune + base.replace("        log", "        prune(model)\n        log")
    assert "\n        prune(model)\n" in clean(base, prunes, theirs)


def test_a_sentence_of_the_owner_stands_beside_one_that_an_update_changes() -> None:
    base = "Expect 0.9.\n"
    text = clean(base, f"A wide net. {base}", "With all data, expect 0.9.\n", "README.md")
    assert text == "A wide net. With all data, expect 0.9.\n"
    more = base.replace("\n", " Ask us.\n")
    assert clean(base, more, "Expect 0.8.\n", "README.md") == "Expect 0.8. Ask us.\n"
    assert merge(base, f"A wide net. {base}", f"A deep net. {base}", "README.md").conflicts


def test_what_evaluates_goes_into_a_block_with_averaged_weights() -> None:
    """With the owner's condition, and a comment: it trains nothing, whatever it is about."""
    lines = "    m = evaluate(model)\n    write(model, m)\n"
    base = f"def main(model):\n{lines}    log(m)\n"
    said = lines.replace("    write", "    # the optimizer waits\n    write")
    theirs = base.replace(lines, f"    with ema.applied():\n{indent(lines, '    ')}")
    for own in (said, f"    if rare:\n{indent(lines, '    ')}"):
        both = base.replace(lines, f"    with ema.applied():\n{indent(own, '    ')}")
        assert clean(base, base.replace(lines, own), theirs) == both


@pytest.mark.parametrize(
    ("path", "base"),
    [("train.sh", "run --n 2 train.py all\n"), ("train.py", 'log(f"{n} for 2, {x} for all")\n')],
)
def test_words_that_both_sides_change_in_one_line_or_message_go_together(
    path: str, base: str
) -> None:
    ours, theirs = base.replace("all", "some"), base.replace("2", "4")
    assert clean(base, ours, theirs, path) == base.replace("all", "some").replace("2", "4")
    assert merge(base, base.replace("2", "3"), theirs, path).conflicts


LOOP = """def main(model):
    for batch in data:
        train(model, batch)
    save(model)
    log()
"""


def test_a_try_of_the_owner_stands_in_a_block_that_an_update_puts_around_it() -> None:
    """Its `finally` too."""
    loop = "    for batch in data:\n        train(model, batch)\n"
    inner = indent(loop, "    ")
    ours = LOOP.replace(loop, f"    try:\n{inner}    finally:\n        log()\n")
    theirs = LOOP.replace(loop, f"    with last_step:\n{inner}")
    block = f"        try:\n{indent(inner, '    ')}        finally:\n            log()\n"
    assert clean(LOOP, ours, theirs) == LOOP.replace(loop, f"    with last_step:\n{block}")


def test_a_check_that_an_update_brings_may_stand_beside_what_the_owner_binds() -> None:
    base, own = "def main():\n    log()\n", "    x = read()\n"
    check = '    if not found:\n        raise SystemExit("no data")\n'
    ours, theirs = (base.replace("    log", f"{rows}    log") for rows in (own, check))
    text = clean(base, ours, theirs)
    assert own in text and check in text
    assert asked(base, ours, theirs.replace('raise SystemExit("no data")', "return"))


def test_what_the_owner_does_in_each_round_stands_above_where_the_update_leaves_the_loop() -> None:
    base = "def main(loader):\n    for batch in loader:\n        step(batch)\n    log()\n"
    own = base.replace("    log()", "        counts.append(1)\n    log()")
    theirs = base.replace("    log()", "        if found():\n            break\n    log()")
    expected = "        counts.append(1)\n        if found():\n            break\n"
    assert expected in clean(base, own, theirs)
    assert asked(base, own, theirs.replace("found()", "found(counts)"))


def test_an_object_that_one_side_calls_and_changes_is_no_reason_to_ask() -> None:
    base = "def main(run):\n    train()\n    end()\n"
    ours = base.replace("    end()", "    counts.append(1)\n    end()")
    theirs = base.replace("    end()", "    run.call()\n    run.model = None\n    end()")
    assert "append(1)\n    run.call()\n    run.model = None\n" in clean(base, ours, theirs)


def test_a_dict_that_is_updated_in_another_way_is_the_same() -> None:
    base = "def main():\n    m |= evaluate()\n    log(m)\n"
    ours = base.replace("m |= evaluate()", "m.update(evaluate())")
    assert clean(base, ours, f"{base}    stop(m.loss)\n") == f"{ours}    stop(m.loss)\n"


def test_parameters_that_both_sides_add_go_together_if_one_has_a_default() -> None:
    base = "def loss(x, y):\n    return cross(x, y)\n"
    ours = base.replace("x, y", "x, y, weight").replace("y, weight)\n", "y, weight=weight)\n")
    theirs = base.replace("x, y):", "x, y, smooth=0.0):").replace("y)\n", "y, smooth=smooth)\n")
    assert clean(base, ours, theirs).startswith("def loss(x, y, weight, smooth=0.0):\n")
    mean = base.replace("x, y):", "x, y, mean=1):")
    assert clean(base, mean, theirs).startswith("def loss(x, y, mean=1, smooth=0.0):\n")
    assert asked(base, ours, theirs.replace("smooth=0.0", "smooth"))
    one, two = (SIGNATURE.replace("batch)", f"batch, {name})") for name in ("ema", "writer"))
    assert len(merge(SIGNATURE, one, two).conflicts) == 3


def test_what_the_owner_computes_in_front_of_parts_of_a_step_is_no_question() -> None:
    base = "def main():\n    for x in data:\n        loss = model(x)\n        loss.backward()\n"
    mixed = "        share = float(draw())\n        loss = model(share * x)\n"
    ours = base.replace("        loss = model(x)\n", mixed)
    theirs = base.replace(
        "        loss = model(x)\n        loss.backward()\n",
        "        with accelerator.accumulate(model):\n"
        "            loss = model(x)\n            loss.backward()\n",
    )
    assert "loss = model(share * x)\n            loss.backward()" in clean(base, ours, theirs)


def test_the_body_of_a_function_that_the_owner_put_at_the_top_is_followed() -> None:
    body = "model = build()\ndata = load()\nfor x in data:\n    step(model, x)\nsave(model)\n"
    base = f'def main():\n{indent(body, "    ")}\n\nif __name__ == "__main__":\n    main()\n'
    theirs = base.replace("    save", "    log()\n    save")
    ours = body.replace("build()", "build(width=64)")
    assert clean(base, ours, theirs) == ours.replace("save", "log()\nsave")


def test_a_package_that_the_owner_requires_is_no_question() -> None:
    base = '[project]\ndependencies = [\n    "torch>=2",\n]\n'
    ours = base.replace("\n]", '\n    "tensorboard",\n]')
    theirs = base.replace("    ", '    "tensorboard>=2.16",\n    ')
    assert clean(base, ours, theirs, "pyproject.toml") == ours
    older, newer = (ours.replace('board"', f'board>={version}"') for version in ("2.9", "2.20"))
    assert clean(base, older, theirs, "pyproject.toml") == theirs
    assert clean(base, newer, theirs, "pyproject.toml") == newer
    both = base.replace('"torch>=2"', '"torch>=3"').replace("    ", '    "tqdm>=4",\n    ')
    text = merge(base, base.replace("torch>=2", "jax"), both, "pyproject.toml").files[
        "pyproject.toml"
    ]
    assert text and '    "tqdm>=4",\n<<<<<<< yours\n    "jax",\n' in text
    pinned = ours.replace('board"', 'board==1.0"')
    assert merge(base, pinned, theirs, "pyproject.toml").conflicts


def test_a_model_that_the_owner_compiles_is_asked_about() -> None:
    base = "import re\n\nmodel = build()\nmodel = prepare(model)\ntrain(model)\n"
    theirs = base.replace("train", "model.compile()\ntrain")
    for own in ("build()\nmodel = torch.compile(model)", "torch.compile(build())"):
        assert asked(base, base.replace("build()", own), theirs)
    clean(base, base.replace("build()", "build()\nname = re.compile(text)"), theirs)


def test_new_code_finds_what_the_owner_put_into_another_file() -> None:
    """The file itself does not change in the update."""
    model, train = "def build():\n    return 1\n", "from model import build\n\nbuild()\n"
    test = "def test_seed():\n    assert 1\n"
    new = "from model import build\n\n\ndef test_build():\n    assert build()\n"
    merged = project(
        {"train.py": train, "model.py": model, "tests/test_a.py": test},
        {"train.py": f"{model}\n\nbuild()\n", "tests/test_a.py": test},
        {"train.py": train, "model.py": model, "tests/test_a.py": f"{new}\n\n{test}"},
    )
    assert not merged.conflicts and not merged.warnings, merged
    assert (merged.files["tests/test_a.py"] or "").startswith("from train import build\n")


def test_a_dict_that_the_owner_wrote_as_a_call_is_followed() -> None:
    base = 'def main():\n    states = {"a": a, "b": b}\n    save(states)\n'
    ours = base.replace('{"a": a, "b": b}', "dict(a=a, b=b, mine=1)")
    theirs = base.replace('"a": a, "b": b', '"b": b, "hooks": hooks')
    assert "states = dict(b=b, hooks=hooks, mine=1)" in clean(base, ours, theirs)
    assert asked(base, ours.replace("dict(", "list("), theirs)


def test_a_line_that_an_update_moves_into_a_conflict_is_in_it_with_both_ends() -> None:
    """Else it would be there twice with one side, or not at all."""
    part, step = "    loss = model(x)\n    backward(loss)\n", "    clip()\n    step()\n"
    base = f"def main():\n{part}{step}    count.add(1)\n    log()\n"
    ours = base.replace(part + step, "    mine(x)\n")
    parts = f"    for part in x:\n{indent(part, '    ')}    count.add(1)\n{step}    log()\n"
    theirs = f"def main():\n{parts}"
    text = merge(base, ours, theirs).files["train.py"] or ""
    for side in (True, False):
        assert take_side(text, ours=side).count("count.add(1)") == 1, text


def test_a_name_that_is_a_module_too_is_followed() -> None:
    base = (
        "from config import read\n\nconfig = read()\ntry:\n    main(config)\nfinally:\n    end()\n"
    )
    ours = base.replace("config =", "cfg =").replace("(config)", "(cfg)")
    theirs = base.replace("try:\n    main(config)\nfinally:\n    end()\n", "main(config)\n")
    assert clean(base, ours, theirs) == "from config import read\n\ncfg = read()\nmain(cfg)\n"


IN_TURNS = """def main(model):
    for step in steps:
        optimizer.step()
        draw(model)
        log(step)
"""


def test_new_lines_stand_below_a_condition_of_the_owner_that_they_do_not_need() -> None:
    """Else they would be done only then, or on one process alone."""
    draws, rare = "        draw(model)\n", "        if step % 5 == 0:\n            draw(model)\n"
    new = "        best.update(model)\n"
    theirs = IN_TURNS.replace(draws, draws + new)
    for own in (rare, f"{rare}        else:\n            skip()\n"):
        text = clean(IN_TURNS, IN_TURNS.replace(draws, own), theirs)
        assert text == IN_TURNS.replace(draws, own + new)
    again = IN_TURNS.replace("draw(model)", "model = draw(model)")
    ours = again.replace("        model", "        if step == 0:\n            model")
    theirs = again.replace("        log", f"{new}        log")
    assert f"            model = draw(model)\n{new}" in clean(again, ours, theirs)
    binds = IN_TURNS.replace("draw(model)", "found = draw(model)")
    ours = binds.replace("        found", "        if step % 5 == 0:\n            found")
    theirs = binds.replace("        log", "        best.update(found)\n        log")
    assert "            best.update(found)\n" in clean(binds, ours, theirs)  # it needs them


def test_a_new_line_below_a_step_that_the_owner_made_conditional_is_asked_about() -> None:
    steps = "        optimizer.step()\n"
    ours = IN_TURNS.replace(steps, f"        if step % 4 == 0:\n    {steps}")
    theirs = IN_TURNS.replace(steps, f"{steps}        ema.update()\n")
    assert "does it belong into your `if`?" in asked(IN_TURNS, ours, theirs)


def test_a_condition_around_what_goes_goes_with_it() -> None:
    draws = "        draw(model)\n"
    ours = IN_TURNS.replace(draws, f"        if step % 5 == 0:\n    {draws}")
    gone = IN_TURNS.replace(draws, "")
    assert clean(IN_TURNS, ours, gone) == gone
    more = ours.replace(
        "            draw(model)\n", "            draw(model)\n            mine()\n"
    )
    assert clean(IN_TURNS, more, gone) == more.replace("            draw(model)\n", "")
    assert merge(IN_TURNS, ours.replace("== 0:", "== 0:  # rarely"), gone).conflicts


def test_new_lines_stand_above_the_comment_on_the_next_one() -> None:
    ours = STEP.replace("        optimizer.step()", "        # the step\n        optimizer.step()")
    theirs = STEP.replace(
        "        optimizer.step()", "        clip(model)\n        optimizer.step()"
    )
    expected = "        clip(model)\n        # the step\n        optimizer.step()\n"
    assert expected in clean(STEP, ours, theirs)


@pytest.mark.parametrize(
    "field", ["    # {}\n    {}\n", '    {1}\n    """{0}."""\n'], ids=["comments", "texts"]
)
def test_a_comment_that_the_owner_put_beside_its_line_goes_with_it(field: str) -> None:
    base = "class Config:\n    epochs: int = 1  # passes\n    norm: float = 1.0  # of gradients\n"
    kept = "class Config:\n" + field.format("passes", "epochs: int = 1")
    ours = kept + field.format("of gradients", "norm: float = 1.0")
    assert clean(base, ours, "class Config:\n    epochs: int = 1  # passes\n") == kept


def test_a_condition_around_a_line_that_an_update_moves_is_asked_about() -> None:
    base = STEP + "    draw(model)\n    close(model)\n"
    ours = base.replace("    draw(model)", "    if model.big:\n        draw(model)")
    theirs = STEP + "        draw(model)\n    close(model)\n"
    assert merge(base, ours, theirs).conflicts
    gone = STEP + "    close(model)\n"
    assert clean(base, ours, gone) == gone.lstrip("\n")


def test_quotes_of_lines_that_an_update_leaves_alone_stay() -> None:
    rows = "".join(f'x{n} = read("a{n}")\n' for n in range(9))
    base = f'{rows}print(f"{{x1}} steps")\n'
    ours = rows.replace('"', "'") + 'print(f"{x1} steps")\n'
    merged = clean(base, ours, f'{base}stop("now")\n')
    assert merged == f"{ours}stop('now')\n"


def test_lines_below_a_loop_stand_between_its_new_end_and_what_follows() -> None:
    base = STEP + "    save(model)\n    stop()\n"
    ours = base.replace("    save(model)\n", '    print("done")\n    save(model)\n')
    theirs = STEP + "        count.add(1)\n    save_weights(model)\n    stop()\n"
    expected = '        count.add(1)\n    print("done")\n    save_weights(model)\n    stop()\n'
    assert clean(base, ours, theirs).endswith(expected)


def test_a_folder_may_be_made_twice() -> None:
    base = "def main(path):\n    a()\n    b()\n    c()\n"
    ours = base.replace("    c()", "    if a.main:\n        path.mkdir()\n    c()")
    theirs = base.replace("    b()", "    path.mkdir()\n    b()")
    text = clean(base, ours, theirs)
    assert text.count("path.mkdir()") == 2
    assert merge(
        base, ours.replace("mkdir", "open_file"), theirs.replace("mkdir", "open_file")
    ).conflicts


@pytest.mark.parametrize(
    ("own", "new"), [("batch = mix(batch)", ""), ("began = clock()", "speed.start()\n        ")]
)
def test_a_loop_is_left_above_what_the_owner_does_first_in_it(own: str, new: str) -> None:
    leave = f"{new}if steps.done:\n            break\n        "
    ours, theirs = (
        STEP.replace("loss = model", f"{lines}loss = model")
        for lines in (f"{own}\n        ", leave)
    )
    assert f"{leave}{own}\n        loss = model(batch)\n" in clean(STEP, ours, theirs)
    assert merge(STEP, ours.replace(own, "steps.add(batch)"), theirs).conflicts


def test_what_the_owner_passes_to_a_function_may_become_something_else() -> None:
    ours = STEP.replace("batch in loader", "step, batch in enumerate(loader)")
    theirs = STEP.replace("in loader", "in bar")
    assert "for step, batch in enumerate(bar):" in clean(STEP, ours, theirs)
    assert merge(STEP, ours, STEP.replace("in loader", "in progress_bar(loader)")).conflicts


def test_another_argument_by_position_comes_last() -> None:
    base = 'evaluate(model, loader, "val")\n'
    theirs = 'evaluate(model, loader, "val", limit)\n'
    text = clean(base, base.replace("model", "averaged"), theirs)
    assert text == 'evaluate(averaged, loader, "val", limit)\n'
    assert merge(base, 'evaluate(model, loader, "val", limit=3)\n', theirs).conflicts


def test_a_question_is_about_the_statements_that_go_and_belong_together() -> None:
    base = """
        def main(model):
            log(1)
            model.eval()
            limit = 3
            answer = find(model)
            log(2)
            train(model)
        """
    theirs = "def main(model):\n    train(model)\n"
    merged = merge(base, base.replace("find(model)", "2 * find(model)"), theirs)
    text = merged.files["train.py"] or ""
    assert len(merged.conflicts) == 1 and "log(" not in text and "    model.eval()\n" in text


def test_new_lines_that_the_owners_side_leaves_without_a_name_are_asked_about() -> None:
    head = "from tools import log\n\n\n"
    base = "def main(rate):\n    for step in range(3):\n        train(step)\n        log(step)\n"
    ours = base.replace("    for", "    plan = own(rate)\n    for").replace("n(step)", "n(plan)")
    new = "    plan = new(rate)\n    count = Count(plan)\n    for"
    theirs = base.replace("    for", new).replace("        log", "        count.add()\n        log")
    imports = "from count import Count\nfrom tools import log, new\n\n\n"
    merged = merge(head + base, head + ours, imports + theirs)
    text = merged.files["train.py"] or ""
    assert len(merged.conflicts) == 2 and "=======\n        count.add()\n>>>>>>>" in text
    assert text.startswith(imports), "a module of the same name is another thing"


def test_an_import_that_the_owners_side_needs_is_no_second_question() -> None:
    base = """
        import sys
        from files import find

        def main():
            train()
            sys.exit(find())
        """
    ours = base.replace("find())", "1 + find())")
    theirs = "def main():\n    train()\n"
    files = {"files.py": "def find():\n    return 1\n"}
    merged = project({"train.py": base, **files}, {"train.py": ours, **files}, {"train.py": theirs})
    text = merged.files["train.py"] or ""
    assert len(merged.conflicts) == 1 and text.startswith("import sys\ndef main"), merged
    kept = project(
        {"train.py": base, **files}, {"train.py": ours, **files}, {"train.py": theirs, **files}
    )
    assert len(kept.conflicts) == 1, kept
    assert "from files import find" in (kept.files["train.py"] or "").partition("def")[0]


@pytest.mark.parametrize("end", ["except ValueError:\n        stop()", "finally:\n        stop()"])
def test_a_block_that_an_update_opens_stands_below_a_try_of_the_owner(end: str) -> None:
    base = STEP + "    save(model)\n    evaluate(model)\n"
    body = indent(base.lstrip().partition("\n")[2].partition("    save")[0], "    ")
    head, below = "def main(loader, model, optimizer):\n", "    save(model)\n    evaluate(model)\n"
    ours = f"{head}    try:\n{body}    {end}\n{below}"
    theirs = base.replace("    save", "    with ema.applied():\n        save").replace(
        "    evaluate", "        evaluate"
    )
    new = "    with ema.applied():\n        save(model)\n        evaluate(model)\n"
    assert clean(base, ours, theirs) == f"{head}    try:\n{body}    {end}\n{new}"


@pytest.mark.parametrize("head", ["if config.train:", "with suppress(KeyboardInterrupt):"])
def test_the_new_end_of_a_loop_goes_into_the_block_around_it(head: str) -> None:
    base = STEP + "    save_model(model)\n    stop()\n"
    body = STEP.partition("optimizer):\n")[2]
    ours = base.replace(body, f"    {head}\n{indent(body, '    ')}")
    theirs = base.replace(
        "    save_model(model)\n", "        count.add(1)\n    save_weights(model)\n"
    )
    end = "            count.add(1)\n    save_weights(model)\n    stop()\n"
    assert clean(base, ours, theirs).endswith(f"            optimizer.zero_grad()\n{end}")


def test_a_call_alone_that_was_put_into_a_function_is_followed() -> None:
    base = "def main(config):\n    tool = Tool(seed=1)\n    run(tool)\n"
    build = "def build(config):\n    return Tool(seed=1)\n\n\n"
    ours = build + base.replace("Tool(seed=1)", "build(config)")
    theirs = base.replace("seed=1", "half=True, seed=1")
    assert clean(base, ours, theirs) == ours.replace("seed=1", "half=True, seed=1")


def test_another_row_of_a_list_stands_above_a_section_of_the_owner() -> None:
    base = "# Features\n\n- one\n- two\n\n# Output\n"
    ours = base.replace("# Output", "# Work\n\nAsk.\n\n# Output")
    theirs = base.replace("- two\n", "- two\n- three\n")
    assert "- two\n- three\n\n# Work\n" in clean(base, ours, theirs, "README.md")


def test_a_second_schedule_is_asked_about() -> None:
    """Also in another function."""
    for own in ("    scheduler.step()\n", "\n\ndef end(scheduler):\n    scheduler.step()\n"):
        assert merge(STEP, STEP + own, f"{STEP}        schedule.step()\n").conflicts


def test_other_parts_of_a_batch_are_asked_about() -> None:
    base = STEP.replace("batch in", "x, y in").replace("(batch)", "(x)")
    ours = base.replace("        loss = ", "        x = mask(x)\n        loss = ")
    theirs = base.replace("x, y in", "sound, x in").replace("model(x)", "model(sound, x)")
    assert merge(base, ours, theirs).conflicts


def test_what_the_owner_and_an_update_both_wrap_is_asked_about() -> None:
    base = "def loaders(data):\n    return Loader(data, 8)\n"
    ours = base.replace("Loader(data", "Loader(Shifted(data)")
    theirs = base.replace("    return", "    data = Augmented(data)\n    return")
    assert "Shifted(...) would be around the new data" in asked(base, ours, theirs)
    other = base.replace("Loader(", "OwnLoader(")  # in place of another call
    assert "    data = Augmented(data)\n    return OwnLoader(data" in clean(base, other, theirs)


def test_a_new_block_goes_into_the_function_that_has_all_of_its_lines() -> None:
    end = "    save(model)\n    score = measure(model)\n    print(score)\n"
    base = f"def main(model, other):\n    train(model)\n{end}    stop(other)\n"
    called = base.replace(end, "    finish(model)\n")
    ours = f"def finish(model):\n{end}\n\n{called}"
    wrapped = "    with other.applied():\n        save(model)\n        score = measure(model)\n"
    theirs = base.replace(end, f"{wrapped}    print(score)\n")
    merged = clean(base, ours, theirs)
    assert f"def finish(model, other):\n{wrapped}    print(score)\n" in merged
    assert "    finish(model, other)\n    stop(other)\n" in merged


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("metrics = evaluate(model)", "metrics = evaluate(model, 8)"),
        ("draw(model)", "print(metrics)\n        draw(model)"),
        (
            "        metrics = evaluate(model)\n",
            "        with timer():\n            metrics = evaluate(model)\n",
        ),
    ],
)
def test_statements_that_an_update_moves_keep_edits(old: str, new: str) -> None:
    moved = "        metrics = evaluate(model)\n        draw(model)\n"
    loop = "def main(model):\n    for batch in model:\n        train(batch)\n        log(batch)\n"
    base = f"{loop}{moved}        end()\n"
    ours = base.replace(old, new)
    assert ours != base
    step = "        if batch.due:\n" + indent(moved, "    ")
    theirs = base.replace(moved, "").replace("        log(", f"{step}        log(")
    expected = base.replace(moved, "").replace("        log(", f"{step}        log(")
    expected = expected.replace(indent(moved, "    "), indent(moved.replace(old, new), "    "))
    assert clean(base, ours, theirs) == expected


def test_a_name_that_the_owner_added_to_an_import_that_goes_is_imported_again() -> None:
    fields = "@dataclass\nclass Config:\n    x: int\n\n\n"
    main = "def main(config: Config):\n    print(config)\n"
    base = f"from dataclasses import dataclass\n\n\n{fields}{main}"
    ours = base.replace("import dataclass", "import dataclass, fields")
    ours = f"import json\n{ours}".replace("print(config", "print(json, fields(config)")
    theirs = f"import time\n\nfrom config import Config\n\n\n{main}    time.sleep(1)\n"
    text = clean(base, ours, theirs)
    assert text.startswith("import json\nimport time\nfrom dataclasses import fields\n\n")


def test_a_method_that_mostly_calls_other_new_methods_is_followed() -> None:
    base = """
        def main(loader, model):
            for epoch in range(3):
                if model.done:
                    break
                for batch in loader:
                    loss = model(batch)
                    step(model)
                    save(model)
                score = measure(model)
                log(score)
            save(model)
        """
    ours = """
        class Trainer:
            def __init__(self, loader, model):
                self.loader, self.model = loader, model

            def train(self):
                for batch in self.loader:
                    loss = self.model(batch)
                    step(self.model)
                    save(self.model)

            def evaluate(self):
                score = measure(self.model)
                log(score)

            def fit(self):
                for epoch in range(3):
                    if self.model.done:
                        break
                    self.train()
                    self.evaluate()
                save(self.model)


        def main(loader, model):
            Trainer(loader, model).fit()
        """
    theirs = base.replace("        step(", "        clip(model)\n                    step(")
    theirs = theirs.replace(
        "    if model.done:",
        "    if epoch > 2:\n                    return\n                if model.done:",
    )
    text = clean(base, ours, theirs)
    assert "            clip(self.model)\n            step(self.model)\n" in text
    assert (
        "            if epoch > 2:\n                return\n            if self.model.done:\n"
        in text
    )


def test_new_files_read_the_keys_that_the_owner_renamed() -> None:
    train = 'def main(loader):\n    log({"loss": 1})\n    test(loader, values["loss"], "val")\n'
    base = {"train.py": train}
    ours = {"train.py": train.replace('"loss"', '"train/loss"').replace('"val"', '"valid"')}
    search = 'METRIC = "val_loss"\n\nvalues = [line["loss"] for line in rows if "loss" in line]\n'
    text = project(base, ours, {**base, "search.py": search}).files["search.py"] or ""
    assert 'METRIC = "valid_loss"' in text
    assert '[line["train/loss"] for line in rows if "train/loss" in line]' in text


def test_new_imports_and_functions_stand_above_a_conflict_of_others() -> None:
    main = "def main(config):\n    print(config)\n"
    base = f"import sys\n\n\nclass Config:\n    x = 1\n\n\n{main}"
    ours = f"import sys\n\n\ndef parse():\n    return sys.argv\n\n\n{main}"
    theirs = (
        "import sys\n\nfrom settings import Config\n\n\n"
        f"def schedule(config):\n    return Config\n\n\n{main}    schedule(config)\n"
    )
    text = merge(base, ours, theirs).files["train.py"] or ""
    assert text.count("<<<<<<<") == 1 and text.index("def schedule") < text.index("<<<<<<<")
    assert "    print(config)\n    schedule(config)\n" in text


def test_what_a_function_sets_up_stands_in_the_order_of_the_owner() -> None:
    rows = ["    a = A()\n", "    b = B(7)\n", "    c = C(9)\n"]
    base = f"def main():\n{''.join(rows)}    run(a, b, c)\n"
    ours = f"def main():\n{''.join(reversed(rows))}    run(a, b, c)\n"
    theirs = base.replace("    c =", "    d = D(a, b)\n    c =")
    text = clean(base, ours, theirs)
    assert text == ours.replace("    run(", "    d = D(a, b)\n    run(")


def test_settings_that_the_owner_put_into_a_part_are_read_there() -> None:
    config = "class Config:\n    rate: float = 0.1\n    clip: float = 1.0\n"
    train = (
        "def main(config):\n    run(config.rate)\n    if config.clip:\n        cut(config.clip)\n"
    )
    part = "class Optim:\n    rate: float = 0.1\n    clip: float = 1.0\n\n\n"
    base = {"config.py": config, "train.py": train}
    ours = {
        "config.py": f"{part}class Config:\n    optim: Optim = Optim()\n",
        "train.py": train.replace("config.", "config.optim."),
    }
    theirs = {
        "config.py": config.replace("    clip: float = 1.0\n", ""),
        "train.py": "def main(config):\n    run(2 * config.rate)\n",
        "finder.py": "def find(config):\n    return config.rate\n",
    }
    merged = project(base, ours, theirs)
    assert not merged.conflicts and not merged.warnings
    assert merged.files["train.py"] == "def main(config):\n    run(2 * config.optim.rate)\n"
    assert "config.optim.rate" in (merged.files["finder.py"] or "")


def test_a_deleted_file_comes_back_with_what_is_new_in_it() -> None:
    average = "class Average:\n    pass\n"
    best = "class Best:\n    pass\n"
    base = {"parts.py": average, "train.py": "from parts import Average\n\nprint(Average)\n"}
    theirs = {
        "parts.py": f"{average}\n\n{best}",
        "train.py": "from parts import Average, Best\n\nprint(Average)\nprint(Best)\n",
    }
    merged = project(base, {"train.py": "print(1)\n"}, theirs)
    assert (merged.files["parts.py"] or "").strip() == best.strip()
    assert "from parts import Best\n" in (merged.files["train.py"] or "")


def test_what_the_owner_does_first_with_a_batch_goes_to_where_it_is_unpacked() -> None:
    base = """
        def main(loader, model):
            for x, y in loader:
                loss = measure(model(x), y)
                loss.backward()
                step(model)
        """
    ours = base.replace(
        "loss = measure(model(x), y)",
        "logits = model(x)\n                loss = measure(logits, y) + logits.norm()",
    )
    theirs = """
        def main(loader, model):
            for window in windows(loader):
                for batch in window:
                    x, y = batch
                    loss = measure(model(x), y)
                    loss.backward()
                step(model)
        """
    assert clean(base, ours, theirs) == clean(theirs, theirs, theirs).replace(
        "loss = measure(model(x), y)",
        "logits = model(x)\n            loss = measure(logits, y) + logits.norm()",
    )


def test_the_parts_of_a_loss_go_into_the_block_of_each_part() -> None:
    loss = "        loss = measure(model(x), y)\n"
    head = "def main(loader, model, helper):\n    for x, y in loader:\n"
    base = f"{head}{loss}        loss.backward()\n        step()\n"
    parts = (
        "        out = model(x)\n        extra = out.square().mean()\n        loss = out + extra\n"
    )
    accumulate = "        with helper.accumulate(model):\n" + indent(loss, "    ")
    theirs = base.replace(f"{loss}        loss", f"{accumulate}            loss")
    text = clean(base, base.replace(loss, parts), theirs)
    assert f"accumulate(model):\n{indent(parts, '    ')}            loss.backward()\n" in text


def test_a_question_about_what_the_owner_keeps_is_one_about_all_uses_of_it() -> None:
    loop = "    for batch in model:\n        train(batch)\n"
    base = f"def main(model):\n    rates = warm_up(model)\n{loop}        rates.step()\n"
    theirs = f"def main(model):\n{loop}"
    ours = base.replace("warm_up(model)", "one_cycle(model, 8)")
    merged = merge(base, ours, theirs)
    assert take_side(merged.files["train.py"] or "", True).count("rates") == 2


def test_new_imports_stand_above_what_the_owner_put_among_them() -> None:
    main = "def main():\n    print(read)\n"
    base = f"import sys\nfrom data import read\n\n\n{main}"
    ours = f"import sys\n\n\ndef read():\n    return sys.argv\n\n\n{main}"
    theirs = base.replace("import read\n", "import read\nfrom log import show\n") + "    show()\n"
    assert "import sys\nfrom log import show\n\n\ndef read" in clean(base, ours, theirs)


def test_a_part_that_an_update_gives_a_name_has_it_in_the_statement_of_the_owner() -> None:
    base = "def main(model, x, y):\n    loss = measure(model(x), y).mean()\n    loss.backward()\n"
    ours = base.replace(
        "loss = measure(model(x), y).mean()",
        "losses, hits = measure(model(x), y)\n    loss = losses.mean() + hits.sum()",
    )
    theirs = base.replace(
        "loss = measure(model(x)", "logits = model(x)\n    loss = measure(logits"
    ).replace("    loss.backward", "    loss = distill(loss, logits)\n    loss.backward")
    text = clean(base, ours, theirs)
    assert "    logits = model(x)\n    losses, hits = measure(logits, y)\n" in text
    assert "hits.sum()\n    loss = distill(loss, logits)\n    loss.backward()\n" in text


def test_a_step_in_a_method_of_the_owner_is_asked_about() -> None:
    parts = ["        loss = model(batch)\n", "        loss.backward()\n", "        step(model)\n"]
    head = "def main(loader, model, helper):\n    for batch in loader:\n"
    base = f"{head}{''.join(parts)}        model.count += 1\n"
    own = "".join(parts).replace("model", "self.model").replace("step(", "scaled_step(2, ")
    ours = (
        f"class Trainer:\n    def step(self, batch):\n{own}\n\n"
        f"{head}        helper.step(batch)\n        model.count += 1\n"
    )
    skip = "        if not helper.sync_gradients:\n            continue\n"
    theirs = (
        f"{head}        with helper.accumulate(model):\n{indent(''.join(parts[:2]), '    ')}"
        f"        model.count += 1\n{skip}{parts[2]}"
    )
    assert merge(base, ours, theirs).conflicts


def test_a_line_of_output_that_reads_what_goes_is_all_that_is_asked_about() -> None:
    loop = "    for batch in model:\n        train(batch)\n"
    head = "def main(model):\n    rates = warm_up(model)\n    log(rates)\n"
    base = f"{head}{loop}        rates.step()\n"
    theirs = f"def main(model):\n{loop}        save(model)\n"
    added = base.replace("        rates.step()", "        rates.step()\n        log(rates.last)")
    for ours in (added, base.replace("log(rates)", "log(rates, 8)")):
        text = merge(base, ours, theirs).files["train.py"] or ""
        assert text.count("<<<<<<<") == 1 and take_side(text, False) == theirs
        assert "    save(model)\n" in take_side(text, True)


def test_a_sentence_behind_one_that_the_owner_replaced_is_left_out() -> None:
    base = "# Digits\n\nExpect 0.97.\n\n- one\n"
    theirs = "# Digits\n\nAt first, expect 0.97.\nThis project changes it.\n\n- one\n- two\n"
    ours = base.replace("Expect 0.97.", "Ask the vision team.")
    merged = merge(base, ours, theirs, "README.md")
    assert merged.files["README.md"] == ours + "- two\n"
    (note,) = merged.notes
    assert note.split(":\n")[1] == "  At first, expect 0.97.\n  This project changes it."


def test_what_completes_a_result_moves_with_it() -> None:
    call = "        metrics |= evaluate(model)\n"
    loop = "    for batch in model:\n        train(batch)\n"
    base = f"def main(model):\n{loop}        metrics = {{}}\n{call}        end(metrics)\n"
    own = '        metrics["error"] = 1 - metrics["score"]\n'
    step = f"        if batch.due:\n            metrics = {{}}\n    {call}"
    theirs = base.replace(call, "").replace("        train(", f"{step}        train(")
    text = clean(base, base.replace(call, call + own), theirs)
    assert f"{call}    {own}        train(batch)\n" in text


def test_a_new_line_stays_where_what_it_reads_is_if_its_neighbour_was_deleted() -> None:
    lines = "        score = measure(model)\n        draw(model)\n"
    base = f"def main(model):\n    if model:\n{lines}    end()\n"
    theirs = base.replace("draw(model)\n", "draw(model)\n        best.update(score)\n")
    text = clean(base, base.replace("        draw(model)\n", ""), theirs)
    assert "        score = measure(model)\n        best.update(score)\n    end()\n" in text


def test_lines_of_a_text_stay_as_they_are_in_a_file_with_tabs() -> None:
    base = 'def main():\n    text = """one\n  two"""\n    print(text)\n'
    ours = base.replace("    text", "\ttext").replace(
        "    print(text)", "\tprint(text)\n\tprint(1)"
    )
    theirs = base.replace("    text", "    if True:\n        text")
    assert '\tif True:\n\t\ttext = """one\n  two"""\n' in clean(base, ours, theirs)


def test_a_question_has_only_the_lines_that_do_not_go_together() -> None:
    ours = STEP.replace(
        "        optimizer.step()\n", "        optimizer.step()\n        rates.step()\n"
    )
    ours = ours.replace("rates", "scheduler")
    new = "        count.add(1)\n{}        if count.due:\n            log(count)\n"
    theirs = STEP.rstrip("\n") + "\n" + new.format("        schedule.step()\n")
    text = merge(STEP, ours, theirs).files["train.py"] or ""
    assert text.count("<<<<<<<") == 1
    assert take_side(text, True) == (ours + new.format("")).lstrip("\n")


def test_the_first_imports_of_a_section_from_both_sides_stand_together() -> None:
    """Also if what separated them is gone."""
    base = "import torch\n\nfrom data import read\n\nread(torch)\n"
    ours = base.replace("from data", "from best import Best\nfrom data") + "Best()\n"
    theirs = base.replace("from data", "from calls import Ema\nfrom data").replace("torch)", "Ema)")
    text = clean(base, ours, theirs)
    assert "\n\nfrom best import Best\nfrom calls import Ema\nfrom data import read\n" in text
    more, theirs = (
        side.replace("from data", "from check import save\nfrom data") + "save()\n"
        for side in (base, theirs)
    )
    assert "\n\nfrom calls import Ema\nfrom data import read\n" in clean(more, base, theirs)


def test_what_a_function_of_the_owner_computed_is_passed_if_it_is_computed_around_it() -> None:
    base = """
        def main(loader, model):
            for batch in loader:
                losses = model(batch)
                tokens = count(batch)
                backward(losses.sum() / tokens)
        """
    ours = """
        def loss_of(model, batch):
            losses = model(batch)
            tokens = count(batch)
            return losses.sum() / tokens


        def main(loader, model):
            for batch in loader:
                loss = loss_of(model, batch)
                backward(loss)
        """
    theirs = """
        def main(loader, model):
            for window in parts(loader):
                tokens = sum(map(count, window))
                for batch in window:
                    losses = model(batch)
                    backward(losses.sum() / tokens)
        """
    text = clean(base, ours, theirs)
    assert "def loss_of(model, batch, tokens):\n    losses" in text
    assert "            loss = loss_of(model, batch, tokens)\n" in text


def test_a_line_of_output_stays_where_its_neighbours_go() -> None:
    head = "def main(loader, model):\n    for n, x in enumerate(loader):\n        loss = model(x)\n"
    base = f"{head}        total += loss\n    total = total / 8\n    end()\n"
    own = "        if n % 8 == 0:\n            print(loss)\n"
    theirs = f"{head}        mean.add(loss)\n    mean.end()\n    end()\n"
    text = clean(base, base.replace("    total = ", f"{own}    total = "), theirs)
    assert f"        loss = model(x)\n{own}        mean.add(loss)\n    mean.end()\n" in text


def test_a_line_stands_in_the_condition_of_the_owner_with_the_one_that_ends_it() -> None:
    base = "def main(model):\n    score = 0\n    score += measure(model)\n    end()\n"
    ours = base.replace("    score +=", "    if model.due:\n        score +=")
    call = "    score += measure(model)\n"
    theirs = base.replace(call, f'    hooks.call("start")\n{call}    hooks.call("end", score)\n')
    text = clean(base, ours, theirs)
    assert (
        '        hooks.call("start")\n        score' in text
        and '\n        hooks.call("end"' in text
    )


def test_variables_that_are_parts_of_an_object_now_are_read_there() -> None:
    base = """
        def main(loader):
            steps = Steps()
            for batch in loader:
                steps.count += 1
                log(steps.count)
        """
    ours = """
        def main(loader):
            run = Run(Steps())
            for batch in loader:
                run.steps.count += 1
                log(run.steps.count)
        """
    theirs = base.replace("        log(steps.count)", "        save(steps)").replace(
        "loader:", "take(loader, steps):"
    )
    expected = ours.replace("        log(run.steps.count)", "        save(run.steps)").replace(
        "loader:", "take(loader, run.steps):"
    )
    assert clean(base, ours, theirs) == dedent(expected).lstrip("\n")


def test_an_imported_class_in_all_places_of_another_one_is_no_new_name_of_it() -> None:
    base = "class Config:\n    a: int = 1\n\n\ndef f(c: Config): ...\n\n\ndef g(c: Config): ...\n"
    ours = "from argparse import Namespace\n\n\ndef f(c: Namespace): ...\n\n\n"
    ours += "def g(c: Namespace): ...\n"
    merged = merge(base, ours, base.replace("a: int = 1", "a: int = 2")).files["train.py"] or ""
    assert "class Config:" in merged and "class Namespace" not in merged


def test_gradients_that_the_owner_accumulates_are_asked_about_if_a_check_refuses_it() -> None:
    base = "def main(config):\n    accelerator = Accelerator()\n    train(accelerator)\n"
    theirs = base.replace("    train", "    check_environment(accelerator)\n    train")
    ours = base.replace("()\n", "(gradient_accumulation_steps=config.parts)\n", 1)
    assert "gradient_accumulation_steps" in asked(base, ours, theirs)
    clean(base, base.replace("()\n", "(cpu=True)\n", 1), theirs)


SCORED = """
def main(model, loader):
    for epoch in range(9):
        train(model)
        metrics = evaluate(model, loader)
        log(metrics)
    end(model)
"""
WITH_AVERAGES = SCORED.replace(
    "        metrics =", "        with ema.applied():\n            metrics ="
)


def test_weights_that_the_owner_saves_by_a_score_of_averaged_ones_are_asked_about() -> None:
    own = '        if metrics["loss"] < 1:\n            save_weights(model)\n'
    ours = SCORED.replace("    end(", f"{own}    end(")
    assert "would not save these weights" in asked(SCORED, ours, WITH_AVERAGES)
    other = ours.replace('metrics["loss"] < 1', "epoch == 3")
    assert own.partition("\n")[2] in clean(SCORED, other, WITH_AVERAGES)


def test_a_second_evaluation_beside_one_of_averaged_weights_has_them() -> None:
    call = "        metrics = evaluate(model, loader)\n"
    own = "        more = evaluate(model, model.data)\n"
    text = clean(SCORED, SCORED.replace(call, own + call), WITH_AVERAGES)
    assert f"        with ema.applied():\n    {own}    {call}" in text


def test_a_part_that_both_sides_name_is_no_conflict() -> None:
    base = "def main(model, x, y):\n    loss = loss_of(model(x), y)\n    back(loss)\n"
    theirs = base.replace(
        "    loss = loss_of(model(x), y)\n",
        "    logits = model(x)\n    loss = loss_of(logits, y)\n    log(logits)\n",
    )
    ours = base.replace(
        "    loss = loss_of(model(x), y)\n",
        "    logits = model(x)\n    first = loss_of(logits, y)\n    loss = first + logits.sum()\n",
    )
    assert clean(base, ours, theirs) == ours.replace("    back", "    log(logits)\n    back")


def test_a_variable_that_is_set_elsewhere_now_is_an_attribute_of_the_owners_class() -> None:
    base = """
        def main(config):
            model = build(config)
            data = read(config)
            for epoch in range(9):
                total = 0.0
                for batch in data:
                    total += model(batch)
                log(total)
        """
    ours = """
        class Trainer:
            def __init__(self, config):
                self.model = build(config)
                self.data = read(config)

            def fit(self):
                for epoch in range(9):
                    total = 0.0
                    for batch in self.data:
                        total += self.model(batch)
                    log(total)


        def main(config):
            Trainer(config).fit()
        """
    theirs = base.replace("                total = 0.0\n", "").replace(
        "            data", "            total = Mean(model)\n            data"
    )
    text = clean(base, ours, theirs)
    assert "self.total = Mean(self.model)" in text and "log(self.total)" in text
    assert "self.total += self.model(batch)" in text


def test_a_variable_of_two_parts_that_the_update_leaves_alone_stays_as_its_owner_has_it() -> None:
    """The owner's method returns it, which the generated loop did not."""
    base = """
        def main(config):
            model = build(config)
            model.start()
            for batch in read(config):
                if config.clip:
                    norm = model.clip(batch)
                values = measure(model)
                if config.clip:
                    values.add(norm)
                log(values)
        """
    ours = """
        class Trainer:
            def __init__(self, config):
                self.config = config
                self.model = build(config)
                self.model.start()

            def step(self, batch):
                norm = None
                if self.config.clip:
                    norm = self.model.clip(batch)
                return norm

            def fit(self):
                for batch in read(self.config):
                    norm = self.step(batch)
                    values = measure(self.model)
                    if norm is not None:
                        values.add(norm)
                    log(values)


        def main(config):
            Trainer(config).fit()
        """
    theirs = base.replace("    model = build(config)", "    model = build(config, fast=True)")
    assert (
        clean(base, ours, theirs)
        == dedent(ours).replace("build(config)", "build(config, fast=True)").lstrip()
    )


ROUNDS = "def main(data):\n    for epoch in data:\n        log(epoch)\n    save(data)\n"
STOPS = "        if epoch.is_bad:\n            break\n"


@pytest.mark.parametrize("below", ["", "    write(data)\n"])
@pytest.mark.parametrize("new", ["done.append(epoch)", "state.epoch = epoch\n        print(state)"])
def test_an_owner_who_leaves_a_loop_at_its_end_does_so_below_new_lines(
    new: str, below: str
) -> None:
    ours = ROUNDS.replace("    save", f"{STOPS}    save")
    theirs = ROUNDS.replace("    save", f"        {new}\n{below}    save")
    assert clean(ROUNDS, ours, theirs) == ours.replace(STOPS, f"        {new}\n{STOPS}{below}")


def test_new_lines_that_end_a_block_are_no_part_of_a_question_below_it() -> None:
    ours = ROUNDS.replace("save(data)", "save(data.best)")
    theirs = ROUNDS.replace("    save(data)", "        done.append(epoch)\n    export(done, to=1)")
    found = merge(ROUNDS, ours, theirs)
    text = found.files["train.py"] or ""
    assert (
        found.conflicts and "        done.append(epoch)\n<<<<<<< yours\n    save(data.best)" in text
    )


def test_own_lines_close_to_a_block_stay_close_to_it() -> None:
    base = "def main(data):\n    check(data)\n\n    for row in data:\n        use(row)\n"
    text = clean(
        base,
        base.replace("    for", "    best = 0\n    for").replace("use(row)", "use(row, best)"),
        base.replace("check(data)\n", "check(data)\n    begin()\n"),
    )
    assert "    begin()\n\n    best = 0\n    for row in data:\n" in text


IN_WINDOW = """
def main(accelerator, model, optimizer, data):
    for batch in data:
        with accelerator.accumulate(model):
            accelerator.backward(model(batch))
            optimizer.step()
            optimizer.zero_grad()
        log(batch)
"""
EACH_BATCH = IN_WINDOW.replace("        with accelerator.accumulate(model):\n", "").replace(
    "    " * 3, "    " * 2
)


@pytest.mark.parametrize("beside", ["        optimizer.step()\n", "        log(batch)\n"])
def test_what_runs_once_a_step_is_asked_about_in_a_window_of_the_owner(beside: str) -> None:
    theirs = EACH_BATCH.replace(beside, f"        average.update()\n{beside}")
    assert theirs != EACH_BATCH and "for each batch" in asked(EACH_BATCH, IN_WINDOW, theirs)


def test_a_count_of_batches_is_asked_about_where_several_make_a_step() -> None:
    ours = STEP.replace("    for batch", "    steps = 3 * len(loader)\n    for batch")
    assert "(it counts batches" in asked(STEP, ours, ACCUMULATED)
    assert "steps = 3" in clean(STEP, ours, STEP.replace("zero_grad()", "zero_grad(True)"))


def test_two_ways_to_accumulate_gradients_are_asked_about() -> None:
    base = "def main():\n    accelerator = Accelerator(cpu=True)\n    train(accelerator)\n"
    ours, theirs = (
        base.replace("cpu=True", f"cpu=True, gradient_accumulation_{what}=4")
        for what in ("steps", "plugin")
    )
    assert "several batches" in asked(base, ours, theirs)


def test_a_file_that_goes_may_import_from_elsewhere() -> None:
    files = {"a.py": "from b import c\n\n\ndef run():\n    return c()\n", "b.py": "c = int\n"}
    ours = {**files, "a.py": files["a.py"].replace("from b", "from lib.b")}
    gone = project(files, ours, {"b.py": files["b.py"]})
    assert not gone.conflicts and gone.files["a.py"] is None
    ours["a.py"] = ours["a.py"].replace("c()", "c() + 1")
    assert project(files, ours, {"b.py": files["b.py"]}).conflicts


def test_a_value_under_another_key_goes_with_what_it_was() -> None:
    base = 'def main(values, norm):\n    values["norm"] = float(norm)\n    log(values)\n'
    theirs = "def main(values, norm):\n    log(values)\n"
    assert clean(base, base.replace('["norm"]', '["train/norm"]'), theirs) == theirs
    assert clean(base, base.replace("] =", '] = kept["norm"] ='), theirs) == theirs
    assert asked(base, base.replace("] =", "] = kept.norm ="), theirs)
    assert asked(base, base.replace("float(norm)", "float(norm) / 2"), theirs)


IN_WEIGHTS = """
def main(loader, ema):
    for epoch in range(3):
        for batch in loader:
            step(batch)
            save(batch)
        metrics = {}
        with ema.applied():
            metrics |= evaluate(ema)
            best.update(metrics)
        log(metrics)
"""
DUE = """
def main(loader, ema):
    for epoch in range(3):
        for batch in loader:
            step(batch)
            if batch.due:
                metrics: dict = {}
                with ema.applied():
                    metrics |= evaluate(ema)
                    best.update(metrics)
                log(metrics)
            save(batch)
        metrics = {}
        log(metrics)
"""


def test_a_part_that_is_skipped_ends_no_round_of_the_loop_around() -> None:
    base = """
def main(loader, keep):
    for epoch in range(3):
        for batch in loader:
            accelerator.backward(loss(batch))
            optimizer.step()
        score = evaluate()
        log(score)
"""
    line = "            optimizer.step()\n"
    theirs = base.replace(
        line, f"            if not accelerator.sync_gradients:\n                continue\n{line}"
    )
    theirs = theirs.replace(
        "            accel",
        "            with accelerator.accumulate(model):\n                accel",
        1,
    )
    own = "        keep.offer(score, epoch + 1)\n"
    ours = base.replace("        log", f"{own}        log")
    assert own in clean(base, ours, theirs)


def test_own_lines_stand_below_a_block_that_an_update_goes_on_with() -> None:
    base = STEP + "        if batch.due:\n            log(loss)\n"
    own = "        if batch.last:\n            score = test(model)\n            log(score)\n"
    new = "            if hooks.agree():\n                break\n"
    assert clean(base, base + own, base + new) == (base + new + own).lstrip()


def test_what_a_process_is_asked_does_not_change_in_a_new_block() -> None:
    line = "        loss = model(batch)\n"
    own = "        seed = hash(accelerator.process_index)\n        batch = flip(batch, seed)\n"
    base = STEP.replace(line, f"{line}        total.add(loss)\n")
    block = f"        with accelerator.no_sync(model):\n    {line}            total.add(loss)\n"
    theirs = STEP.replace(line, block)
    text = clean(base, base.replace(line, own + line), theirs)
    assert text.index("flip(batch, seed)") < text.index("loss = ")
    other = own.replace("process_index", "sync_gradients")
    assert asked(base, base.replace(line, other + line), theirs)


def test_a_line_that_both_sides_moved_is_not_asked_about_where_it_was() -> None:
    base = STEP + "        progress += 1\n        log(loss)\n"
    step, count = "        optimizer.step()\n", "        progress += 1\n"
    theirs = base.replace(count, "        ema.update()\n")
    theirs = theirs.replace(step, f"{count}        if not synced():\n            continue\n{step}")
    ours = base.replace(count, "")
    ours = ours.replace(step, f"{count}        if progress % 4:\n            continue\n{step}")
    text = merge(base, ours, theirs).files["train.py"] or ""
    assert text.count("<<<<<<<") == 1 and "ema.update()" in take_side(text, True)


def test_imports_of_both_sides_are_in_the_order_of_the_alphabet() -> None:
    base = "from config import run\nfrom model import build\n\nrun(build())\n"
    ours = base.replace("from model", "from lion import Lion\nfrom model") + "Lion()\n"
    theirs = base.replace("from model", "from hooks import Hooks\nfrom model") + "Hooks()\n"
    text = clean(base, ours, theirs)
    assert text.index("from hooks") < text.index("from lion") < text.index("from model")


def test_rows_that_both_sides_write_to_a_file_may_come_in_either_order() -> None:
    base = f"{STEP}        rows.append(0, 0)\n"
    own = "        if loss > 1:\n            rows.append(1, loss)\n"
    new = "        if batch:\n            rows.append(2, batch)\n"
    text = clean(base, base + own, base + new)
    assert own in text and new in text
    base, own, new = (re.sub(r"append\(\d, ", "append(", part) for part in (base, own, new))
    assert asked(base, base + own, base + new)  # of a list, the order counts


def test_what_stays_in_its_loop_is_in_place_though_a_longer_run_moves_past_it() -> None:
    base = """
def main(loader):
    for epoch in range(3):
        for batch in loader:
            step(batch)
            save(batch)
        metrics = {}
        metrics |= evaluate(batch)
        if epoch:
            path = find(epoch)
            write(path)
        log(metrics)
"""
    theirs = """
def main(loader):
    for epoch in range(3):
        for batch in loader:
            step(batch)
            if batch.due:
                metrics: dict = {}
                metrics |= evaluate(batch)
                if epoch:
                    path = find(epoch)
                    write(path)
                show(metrics)
            save(batch)
        metrics = {}
        log(metrics)
"""
    line = "metrics |= evaluate(batch)\n"
    for own in ("metrics |= again(batch)\n", "if epoch:\n    metrics |= again(batch)\n"):
        text = clean(base, base.replace(line, line + indent(own, " " * 8)), theirs)
        assert text == theirs.lstrip().replace(line, line + indent(own, " " * 16))


def test_a_condition_that_completes_a_result_goes_along_with_it() -> None:
    base = IN_WEIGHTS.replace("        with ema.applied():\n", "").replace("    best.", "best.")
    base = base.replace("    metrics |= ", "metrics |= ").replace(
        "        best.update(metrics)\n", ""
    )
    theirs = DUE.replace("                with ema.applied():\n", "").replace(
        "    metrics |=", "metrics |="
    )
    theirs = theirs.replace("                    best.update(metrics)\n", "")
    line = "metrics |= evaluate(ema)\n"
    own = "if epoch:\n    metrics |= again(ema)\n"
    text = clean(base, base.replace(line, line + indent(own, " " * 8)), theirs)
    assert text == theirs.lstrip().replace(line, line + indent(own, " " * 16))


def test_the_end_of_a_new_block_is_in_its_conflict() -> None:
    base = """
def main(model):
    metrics = evaluate(model)
    if model:
        write(model)
    log(metrics)
"""
    theirs = """
def main(model):
    best = Best()
    with ema.applied():
        metrics = evaluate(model)
        if model:
            write(model)
        best.update(metrics)
    log(metrics)
"""
    line = "    metrics = evaluate(model)\n"
    ours = base.replace(line, f"    best = 3\n{line}    best = min(best, metrics)\n")
    text = merge(base, ours, theirs).files["train.py"] or ""
    assert take_side(text, True) == ours.lstrip() and take_side(text, False) == theirs.lstrip()


def test_what_an_update_moved_has_no_new_line_in_its_place() -> None:
    base = STEP + "        progress += 1\n        log(loss)\n"
    theirs = base.replace("        progress += 1\n", "        ema.update()\n")
    step = "        optimizer.step()\n"
    theirs = theirs.replace(step, f"        progress += 2\n{step}")
    own = "        progress += 1\n        if progress % 4:\n            continue\n"
    ours = base.replace("        progress += 1\n", "").replace(step, own + step)
    text = merge(base, ours, theirs).files["train.py"] or ""
    assert text.count("<<<<<<<") == 1 and "ema.update()" in take_side(text, True)


def test_a_field_that_both_sides_add_with_other_words_is_a_question_about_it_alone() -> None:
    base = "class Config:\n    epochs: int = 3\n    seed: int = 0\n"
    ours = base.replace("    seed", "    decay: float = 0.9  # mine\n    seed")
    new = "    patience: int = 5\n    decay: float = 0.9  # theirs\n    steps: int = 4\n"
    text = merge(base, ours, base + new).files["train.py"] or ""
    assert take_side(text, True) == ours + new.replace("    decay: float = 0.9  # theirs\n", "")


def test_a_question_about_a_part_of_a_step_is_one_about_all_of_it() -> None:
    first = "        labels = batch.pop()\n        loss = measure(model(batch), labels)\n"
    add, back = "        total.add(loss, len(labels))\n", "        loss.backward()\n"
    clip = "        if limit:\n            norm = clip(model, limit)\n"
    end = f"{clip}        optimizer.step()\n        optimizer.zero_grad()\n"
    count, last = (
        "        n += 1\n",
        "        steps += 1\n        if limit:\n            log(norm)\n",
    )
    head = "def main(loader, model, optimizer, limit):\n    for batch in loader:\n"
    head += "        begin(batch)\n"
    base = f"{head}{first}{add}{back}{end}{count}{last}"
    own = "        loss, size, norm = take_step(model, optimizer, batch, limit)\n"
    body = indent(dedent(f"{first}{back}        norm = None\n{end}"), "    ")
    ours = f"def take_step(model, optimizer, batch, limit):\n{body}"
    ours += "    return loss, len(labels), norm\n"
    ours += f"\n\n{head}{own}        total.add(loss, size)\n{count}{last}"
    block = indent(first + add + back, "    ")
    skip = "        if not accelerator.sync_gradients:\n            continue\n"
    theirs = f"{head}        with accelerator.accumulate(model):\n{block}{count}{skip}{end}{last}"
    text = merge(base, ours, theirs).files["train.py"] or ""
    assert text.count("<<<<<<<") == 1 and end in take_side(text, False).partition("main")[2]


def test_a_comment_behind_a_new_entry_stays_there() -> None:
    base = "SETTINGS = {\n    'epochs': 3,\n    'seed': 0,\n}\n"
    ours = base.replace("    'seed': 0,\n", "    'seed': 0,\n    'own': 1,\n")
    new = "    'every': 1,  # so that both are equal\n"
    theirs = base.replace("    'seed': 0,\n", f"    'seed': 0,\n{new}")
    assert new in clean(base, ours, theirs)
    theirs = base.replace("    'epochs': 3,\n", f"    # of the loop\n{new}    'epochs': 3,\n")
    assert "    # of the loop\n" in clean(base, ours, theirs)


def test_an_average_that_is_applied_before_other_weights_are_loaded_is_asked_about() -> None:
    base = "def main(model, ema):\n    train(model)\n    save_weights(model, 'a')\n"
    theirs = base.replace("    save", "    best_model.load(model)\n    save")
    label = asked(base, base.replace("    save", "    ema.apply()\n    save"), theirs)
    assert label == "the update (ema.apply would not see these weights)"


def test_weights_that_the_owner_uses_in_place_of_the_model_are_asked_about() -> None:
    base = (
        "def main(model, ema):\n    train(model)\n    save_weights(model, 'a')\n    test(model)\n"
    )
    theirs = base.replace("    save", "    best_model.load(model)\n    save")
    ours = base.replace("weights(model", "weights(ema.model").replace(
        "test(model", "test(ema.model"
    )
    assert asked(base, ours, theirs) == "the update (save_weights would not use these weights)"


def test_an_own_line_goes_along_with_its_block_into_another_one() -> None:
    line = "            metrics |= evaluate(ema)\n"
    text = clean(IN_WEIGHTS, IN_WEIGHTS.replace(line, f"{line}            print(epoch)\n"), DUE)
    new = f"        {line}"
    assert text == DUE.lstrip().replace(new, f"{new}                    print(epoch)\n")


def test_only_the_lines_that_use_what_goes_are_asked_about() -> None:
    base = """
def main(model, loader):
    rows = Rows(model)
    rate = Rate(model)
    states = {"rows": rows, "rate": rate}
    checkpoints = Checkpoints(states)
    for batch in loader:
        train(batch)
        rate.step()
        rows.append(batch)
        checkpoints.save()
    end(model)
"""
    theirs = (
        "def main(model, loader):\n    for batch in loader:\n        train(batch)\n    end(model)\n"
    )
    first = "    for batch in loader:\n"
    for old, new in (
        (first, f"    if model:\n        print(model)\n        rows.append(0)\n{first}"),
        (first, f'    states["own"] = model\n{first}'),
    ):
        text = merge(base, base.replace(old, new), theirs).files["train.py"] or ""
        assert text.count("<<<<<<<") == 1 and text.count("rate.step()") == 0, text
        kept = "        print(model)\n" if "print" in new else ""
        gone = f"    if model:\n{kept}" if kept else ""
        assert take_side(text, False) == theirs.replace(first, gone + first)
    merged = merge(base, base.replace('rate": rate}', 'rate": rate, "own": model}'), theirs)
    assert merged.files["train.py"] == theirs and not merged.conflicts
    assert merged.notes == ["train.py: states is gone, with what you added to it."]


@pytest.mark.parametrize(
    "own",
    [
        "        log['rate'] = rate.read()\n",
        "        now = rate.read()\n        log['rate'] = now\n",
        "        if rate.read() > 1:\n            stop(model)\n",
    ],
)
def test_what_reads_a_variable_that_goes_is_all_that_is_asked_about(own: str) -> None:
    base = """
def main(model, loader, log):
    rate = Rate(model)
    states = {"rate": rate}
    for batch in loader:
        train(batch)
        rate.step()
    save(model, states)
"""
    theirs = """
def main(model, loader, log):
    for batch in loader:
        train(batch)
    save(model)
"""
    line = "        train(batch)\n"
    ours = base.replace(line, line + own)
    assert asked(base, ours, theirs) == "the update (rate would be undefined)"
    text = merge(base, ours, theirs).files["train.py"] or ""
    assert take_side(text, False) == theirs.lstrip() and own in text


def test_what_an_edited_line_reads_goes_with_it() -> None:
    base = """
def main(loader, config):
    every = config.every
    saver = Saver(loader)
    for batch in loader:
        if config.unit == "steps" and every and batch.step % every == 0:
            saver.save()
    saver.save()
"""
    theirs = "def main(loader, config):\n    for batch in loader:\n        pass\n"
    ours = base.replace('        if config.unit == "steps" and every', "        if due and every")
    ours = ours.replace("        if", '        due = config.unit == "steps"\n        if')
    text = merge(base, ours, theirs).files["train.py"] or ""
    assert text.count("<<<<<<<") == 1 and "every = config" not in text, text


def test_a_name_for_the_whole_loop_is_not_the_value_of_a_round() -> None:
    base = """
def main(loader):
    for epoch in range(3):
        total = 0
        for batch in loader:
            total += loss(batch)
        total = total / len(loader)
        log(total)
"""
    loop = "    for epoch in range(3):\n"
    theirs = base.replace(loop, f"    total = Running()\n{loop}").replace("        total = 0\n", "")
    theirs = theirs.replace("total += loss(batch)", "total.add(loss(batch))")
    theirs = theirs.replace("        total = total / len(loader)\n", "")
    theirs = theirs.replace("log(total)", "log(total.end())")
    sums = base.replace("total += ", "summed = ").replace("total = total /", "total = summed /")
    for text in (base, sums.replace("        total = 0\n", "")):
        ours = text.replace("log(total)", "check(total)\n        log(total)")
        assert asked(text, ours, theirs) == "the update (total would have a different value here)"


def test_a_name_that_a_loop_binds_in_each_round_is_the_value_of_a_round() -> None:
    base = """
def main(loader):
    for batch in loader:
        images, labels = batch
        train(images, labels)
"""
    theirs = base.replace("for batch", "for images, labels")
    theirs = theirs.replace("        images, labels = batch\n", "")
    line, own = "        train(", "        images = images + noise()\n"
    ours = base.replace(line, own + line)
    assert clean(base, ours, theirs) == theirs.lstrip().replace(line, own + line)


def test_what_the_owner_adds_to_a_result_stays_with_it_where_another_one_is_made() -> None:
    own = "        metrics['own'] = 1 + metrics['loss']\n"
    base = IN_WEIGHTS.replace("metrics = {}\n", "metrics = {'loss': end()}\n")
    theirs = DUE.replace("metrics = {}\n", "metrics = {'loss': end()}\n")
    line = "        metrics = {'loss': end()}\n"
    text = clean(base, base.replace(line, line + own), theirs)
    assert text == theirs.lstrip().replace(line, line + own)


def test_own_lines_stand_above_what_takes_the_place_of_the_next_call() -> None:
    base = (
        "def main(model, folder):\n    train(model)\n\n    model.write(folder)\n    test(model)\n"
    )
    new = "    checkpoints.save()\n    save_weights(model, folder / 'weights')\n"
    theirs = base.replace("\n    model.write(folder)\n", new)
    text = clean(base, base.replace("    model.write", "    load(model)\n    model.write"), theirs)
    assert text.index("load(model)") < text.index("save_weights(")


def test_a_definition_that_both_sides_add_in_two_places_is_there_once() -> None:
    base = "class Stop:\n    def update(self):\n        return 1\n"
    new = "class Ema:\n    def update(self, model):\n        self.model = model\n"
    theirs = f"{base}\n\n{new}"
    assert clean(base, f"{new}\n\n{base}", theirs) == f"{new}\n\n{base}"
    text = merge(base, f"{new.replace('model)', 'model, rate)')}\n\n{base}", theirs).files[
        "train.py"
    ]
    assert text and "<<<<<<<" in text and take_side(text, False).count("class Ema") == 1
    assert take_side(text, True).count("class Ema") == 1
