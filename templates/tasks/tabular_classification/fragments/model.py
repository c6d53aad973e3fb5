#: slot build_model
def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    #: region classes
    rows, labels = build_datasets(config)[0][:]
    classes = len(labels.unique())
    #: end classes
    return Mlp(rows, classes)
