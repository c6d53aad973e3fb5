"""Merges and judges all edits of the corpus: `python tests/corpus/report.py --help`."""

import argparse
import importlib
import itertools
import json
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from corpus.changes import CHANGES  # noqa: E402
from corpus.edit import EDITS  # noqa: E402
from corpus.frozen import compare, freeze, of_cases, of_corpus  # noqa: E402
from corpus.judge import VERDICTS, WRONG, Verdict, judge  # noqa: E402
from corpus.rivals import Bench  # noqa: E402
from scaffold.merge.checks import project  # noqa: E402
from scaffold.merge.guards import broken_names  # noqa: E402
from scaffold.merge.normalize import files  # noqa: E402

Case = tuple[tuple[str, ...], str]  # names of edits, and a change

for path in sorted(HERE.glob("kinds_*.py")):
    importlib.import_module(f"corpus.{path.stem}")


def cases(half: str) -> list[Case]:
    """All edits of a half ("seen", "held out" or "both") with all changes."""
    names = [name for name in EDITS if half in ("both", half_of([name]))]
    return [((name,), change) for name in names for change in CHANGES]


def half_of(names: Sequence[str]) -> str:
    """ "seen", "held out", or "mixed" for several edits of both."""
    held = [EDITS[name].held_out for name in names]
    return "held out" if all(held) else "mixed" if any(held) else "seen"


def drawn(count: int, seed: int) -> list[Case]:
    """One to three edits and a change, by chance."""
    found = []
    dice = random.Random(seed)
    for _ in range(count):
        number = dice.choice([1, 2, 2, 3])
        found.append((tuple(dice.sample(sorted(EDITS), number)), dice.choice(list(CHANGES))))
    return found


def judge_all(wanted: Iterable[Case], workers: int = 1) -> list[Verdict]:
    """What scaffold makes of them, without those that can't be made."""
    return list(judge_each(wanted, workers))


def judge_each(wanted: Iterable[Case], workers: int = 1) -> Iterator[Verdict]:
    if workers == 1:
        yield from filter(None, map(_judge, wanted))
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from filter(None, pool.map(_judge, wanted, chunksize=len(CHANGES)))


def _judge(case: Case) -> Verdict | None:
    return judge(*case)


def row(title: str, verdicts: Sequence[Verdict]) -> str:
    """A row of the table."""
    counts = Counter(verdict.verdict for verdict in verdicts)
    total = max(1, len(verdicts))
    cells = [f"{counts[name]:,} ({100 * counts[name] / total:.1f} %)" for name in VERDICTS]
    return f"| {title} | {len(verdicts):,} | {' | '.join(cells)} |"


def table(verdicts: Sequence[Verdict]) -> str:
    """Both halves, apart."""
    head = f"| | merges | {' | '.join(VERDICTS)} |"
    rows = [head, "| --- |" + " ---: |" * 5]
    for half in ("seen", "held out", "mixed"):
        if part := [verdict for verdict in verdicts if half_of(verdict.names) == half]:
            rows.append(row(half, part))
    return "\n".join([*rows, row("all", verdicts)])


def by_change(verdicts: Sequence[Verdict]) -> str:
    return "\n".join(
        row(change, [v for v in verdicts if v.change == change])
        for change in CHANGES
        if any(v.change == change for v in verdicts)
    )


def write(folder: Path, verdict: Verdict) -> None:
    """The files of a result, below a folder."""
    name = f"{'+'.join(verdict.names)} {verdict.change}".replace(" ", "_")
    for path, text in verdict.files.items():
        (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / path).write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", default="seen", choices=["seen", "held out", "both"])
    parser.add_argument("--edit", action="append", help="these edits alone; a part of the name")
    parser.add_argument("--change", action="append", help="these changes alone")
    parser.add_argument("--part", default="0/1", help="0/3: the first third of all cases")
    parser.add_argument("--tool", help="another tool: copier, cruft, git merge-file, mergiraf")
    parser.add_argument("--fuzz", type=int, default=0, help="so many projects of 1 to 3 edits")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--show", help="write the files of the results below this folder")
    parser.add_argument("--json", help="write all verdicts to this file")
    parser.add_argument("--freeze", help="write what the merge makes of the cases to this file")
    parser.add_argument("--compare", help="print each case of such a file that is merged otherwise")
    parser.add_argument("--without", action="append", default=[], help="leave out a rule by name")
    given = parser.parse_args()
    for rule in given.without:
        leave_out(rule)
    wanted = drawn(given.fuzz, given.seed) if given.fuzz else cases(given.half)
    if given.edit:
        every = wanted if given.fuzz else cases("both")
        wanted = [case for case in every if any(part in " + ".join(case[0]) for part in given.edit)]
    if given.change:
        wanted = [case for case in wanted if case[1] in given.change]
    part, of = map(int, given.part.split("/"))
    if of > 1:  # with each edit other changes, and the other way round
        places = {name: number for number, name in enumerate([*EDITS, *CHANGES])}
        wanted = [c for c in wanted if (places[c[0][0]] + places[c[1]]) % of == part]
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        if given.compare:
            raise SystemExit(bool(compare(Path(given.compare), part, of, bool(given.show))))
        if given.freeze:
            more = () if given.fuzz or given.edit or part else of_cases()
            print(freeze(Path(given.freeze), itertools.chain(of_corpus(wanted), more)), "cases")
            return
        verdicts = []
        if given.tool:
            bench = Bench(given.tool, Path(folder))
            found = filter(None, (bench.judge(*case) for case in wanted))
        else:
            found = judge_each(wanted, given.workers)
        for verdict in found:
            verdicts.append(verdict)
            if given.edit or (verdict.verdict in VERDICTS[2:] and half_of(verdict.names) == "seen"):
                print(verdict, flush=True)
            if given.show:
                write(Path(given.show), verdict)
    print(f"\n{table(verdicts)}\n\n{by_change(verdicts)}")
    if given.json:
        rows = [[v.names, v.change, v.verdict, v.why] for v in verdicts]
        Path(given.json).write_text(json.dumps(rows))
    raise SystemExit(any(verdict.verdict == WRONG for verdict in verdicts))


def leave_out(rule: str) -> None:
    """Merge without a rule: a normalizer, a guard or a check, by the name of its function."""
    found = 0
    lists = ((files, ("SPELLING", "PLACES", "PAGES")), (broken_names, ("GUARDS",)))
    for module, names in (*lists, (project, ("CHECKS",))):
        for name in names:
            rules = getattr(module, name)
            rest = tuple(one for one in rules if one.__name__ != rule)
            found += len(rules) - len(rest)
            setattr(module, name, rest)
    if not found:
        raise SystemExit(f"there is no rule {rule}")


def prepare(folder: Path) -> None:
    """What tests have from pytest: a folder for renders, and one for the server of runs."""
    from support import shared, warm

    kept = Path(tempfile.gettempdir()) / f"scaffold-corpus-{os.getuid()}"
    kept.mkdir(exist_ok=True)
    shared.open_folder(kept)
    os.environ.setdefault("SCAFFOLD_CACHE_DIR", str(folder / "cache"))
    warm.prepare(str(folder))


if __name__ == "__main__":
    main()
