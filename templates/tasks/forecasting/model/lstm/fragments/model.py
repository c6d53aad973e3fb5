#: slot model
class Lstm(nn.Module):
    """Outputs of shape (batch, outputs) for contexts of shape (batch, context).

    It sees, and returns, differences to the last value, so the level of a series does not matter.
    """

    def __init__(self, outputs: int, width: int, layers: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(1, width, layers, batch_first=True)
        self.head = nn.Linear(width, outputs)

    def forward(self, contexts: Tensor) -> Tensor:
        last = contexts[:, -1:]
        states, _ = self.lstm((contexts - last)[:, :, None])
        return last + self.head(states[:, -1])

#: slot build_model
model = Lstm({{ task.outputs }}, config.width, config.layers)
