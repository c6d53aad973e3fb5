"""The same training, as one writes it with each library.

Each module has `train(case, model, dataset)`, which trains the model in place for one epoch.
"""
