"""Whether a machine fits the answers of a project: pure functions, for `scaffold doctor`.

Each check yields what it finds about one thing, or nothing if that does not matter for the answers.
What to change is a command, such as `scaffold update` with a setting.
"""

from collections.abc import Callable, Iterator, Mapping

from scaffold.answers.catalog import Value
from scaffold.machine import computer, devices, kernels, memory, software
from scaffold.machine.case import WARNING, Case, Finding, Needs
from scaffold.machine.look import Machine
from scaffold.machine.model import Model


def examine(
    answers: Mapping[str, Value],
    machine: Machine,
    needs: Needs | None = None,
    model: Model | str | None = None,
) -> list[Finding]:
    """What fits and what does not, for complete answers. A check that crashes is a warning.

    The model is what `model.know_model` returns for these answers.
    """
    case = Case(answers, machine, needs or Needs(), model)
    findings: list[Finding] = []
    for check in _checks(case):
        try:
            findings += check(case)
        except Exception as error:  # one check must not hide what the others find
            name = check.__name__.strip("_").replace("_", " ")
            text = f"the check failed: {type(error).__name__}: {error}"
            findings.append(Finding(WARNING, name, text))
    for name, reason in machine.unknown.items():
        if name != "python":  # reported as a problem already
            findings.append(Finding(WARNING, name, f"can't be determined: {reason}"))
    return findings


def _checks(case: Case) -> list[Callable[[Case], Iterator[Finding]]]:
    """The checks that apply to the machine on which the processes run."""
    if not case.away:
        return [
            *software.CHECKS,
            *devices.CHECKS,
            *kernels.CHECKS,
            *memory.CHECKS,
            *computer.CHECKS,
        ]
    if case.launcher == "slurm":  # its machines usually share their disks
        return [*software.CHECKS, *memory.CHECKS, *computer.SHARED_CHECKS]
    return [*software.AWAY_CHECKS, *memory.CHECKS, *computer.AWAY_CHECKS]
