import os
import signal
from functools import partial
from threading import Thread

import torch

#: slot constants
# what schedulers and spot machines send, and Ctrl-C
SIGNALS = ["SIGTERM", "SIGUSR1", "SIGINT"]

#: slot checkpoints_setup
# the handler knows the list alone: it outlives the run, and must not keep the model alive
self.signals: list[int] = []
#: region listen
for name in SIGNALS:
    if hasattr(signal, name):
        signal.signal(getattr(signal, name), partial(note_signal, self.signals))
#: end listen

#: slot checkpoints_after_update
self.stop_if_told()

#: slot checkpoints_after_epoch
self.stop_if_told()

#: slot checkpoints_methods
def stop_if_told(self) -> None:
    """Save and end, with a status that asks for a restart, if any process was told to stop."""
    #: slot before_told
    told = bool(self.signals)
    if self.accelerator.num_processes > 1:  # all processes end at the same update
        votes = torch.tensor(float(told), device=self.accelerator.device)
        told = self.accelerator.reduce(votes, "sum") > 0
    if told:
        if self.saved != self.progress:
            self.save()
        update = self.progress.update
        self.accelerator.print(f"stopped by a signal at update {update}: go on with --resume")
        raise SystemExit(75)  # EX_TEMPFAIL of sysexits.h: try again later

#: slot functions
def note_signal(signals: list[int], number: int, frame) -> None:
    """Remember a signal until the update is done. A second Ctrl-C interrupts at once."""
    signals.append(number)
    if number == signal.SIGINT:
        signal.signal(number, signal.default_int_handler)


def leave_signals_to_training(worker: int) -> None:
    """Keep a data worker at work when all processes are told to stop: the training ends it."""

    def end_when_training_says() -> None:
        while signal.sigwaitinfo([signal.SIGTERM]).si_pid != os.getppid():
            pass
        os._exit(0)

    for name in SIGNALS:
        if name != "SIGTERM" and hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if hasattr(signal, "sigwaitinfo"):  # macOS and Windows do not say who sent a signal
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        Thread(target=end_when_training_says, daemon=True).start()
