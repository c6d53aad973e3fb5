"""As much of wandb as edits of the corpus call: it prints."""

run = None


def init(**settings):
    print("wandb init", sorted(settings))


def log(values, step=None):
    print("wandb log", sorted(values), step)


def watch(model, **settings):
    print("wandb watch")


def finish():
    print("wandb finish")
