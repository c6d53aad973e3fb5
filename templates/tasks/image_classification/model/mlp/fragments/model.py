#: slot build_model
return {{ task.sequential }}(
    nn.Flatten(),
    nn.Linear({{ task.pixels }}, 128),
    nn.ReLU(),
    nn.Linear(128, 64),
    nn.ReLU(),
    nn.Linear(64, {{ task.classes }}),
)
