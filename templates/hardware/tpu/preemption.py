from threading import current_thread, main_thread

#: replace listen
# the launcher trains each TPU core in a thread, where Python receives no signals
self.listens = current_thread() is main_thread()
for name in SIGNALS:
    if self.listens and hasattr(signal, name):
        signal.signal(getattr(signal, name), partial(note_signal, self.received))

#: slot before_told
if not self.listens:
    return
