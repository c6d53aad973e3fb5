from data import load_table

#: slot build_model
def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    rows, _ = build_datasets(config)[0][:]
    classes = len(load_table(config)[1].unique())
    return Mlp(rows, classes)
