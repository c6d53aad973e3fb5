"""As much of omegaconf as edits of the corpus call."""


class DictConfig(dict):
    __getattr__ = dict.__getitem__


class OmegaConf:
    @staticmethod
    def to_container(config, resolve=True):
        return dict(config)

    @staticmethod
    def to_yaml(config):
        return "\n".join(f"{name}: {value}" for name, value in config.items())
