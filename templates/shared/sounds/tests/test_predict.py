#: with sounds
#: slot functions
def predict_sounds(config, model, sounds) -> list[dict]:
    """Predict samples of the data instead of files."""
    with mock.patch.object(predict, "load_sound", lambda sound, _: sound):
        return predict.predict(config, model, sounds)
