import signal

from checkpoint import SIGNALS

#: slot datasets
def leave_signals(worker: int) -> None:
    """Let the main process end this worker: a signal to all would leave it without its data."""
    for name in SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)

#: slot train_batches
worker_init_fn=leave_signals,

#: slot eval_settings
settings["worker_init_fn"] = leave_signals
