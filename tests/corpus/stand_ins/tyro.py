"""As much of tyro as edits of the corpus call: the defaults."""


def cli(config_class, **settings):
    return config_class()
