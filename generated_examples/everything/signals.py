"""The signals that ask a run to stop, and how data workers take them."""

import os
import signal
from threading import Thread

# what schedulers and spot machines send, and Ctrl-C
SIGNALS = ["SIGTERM", "SIGUSR1", "SIGINT"]


def leave_signals_to_training(worker: int) -> None:
    """Let a data worker outlive a signal to all processes: the training process ends it."""

    def end_with_training() -> None:
        while signal.sigwaitinfo([signal.SIGTERM]).si_pid != os.getppid():
            pass
        os._exit(0)

    for name in SIGNALS:
        if name != "SIGTERM" and hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if hasattr(signal, "sigwaitinfo"):  # macOS and Windows do not say who sent a signal
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        Thread(target=end_with_training, daemon=True).start()
