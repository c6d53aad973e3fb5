from diffusion import ANY_CLASS, guide

#: replace sampled
images = sample(Knowing(), fixed_noise([0, 1], shape), torch.tensor([0, 1]), 2.0, steps)

#: slot tests
def test_the_class_of_some_training_images_is_dropped():
    config = train.Config(**{**SETTINGS, "any_class_rate": 0.5})
    train_set, val_set, _ = (loader.dataset for loader in build_loaders(config))
    count = min(100, len(train_set))
    labels = [int(train_set[row][3]) for row in range(count)]
    assert 0 < labels.count(ANY_CLASS) < count
    assert all(int(val_set[row][3]) != ANY_CLASS for row in range(min(100, len(val_set))))


def test_guidance_moves_outputs_away_from_those_of_any_class():
    def model(noisy, times, labels):
        return labels.reshape(-1, 1, 1, 1).float().expand_as(noisy)

    noisy, labels = torch.zeros(2, 1, 4, 4), torch.tensor([0, 3])
    for guidance, expected in ((1.0, [0.0, 3.0]), (0.0, [-1.0, -1.0]), (2.0, [1.0, 7.0])):
        outputs = guide(model, noisy, torch.zeros(2), labels, guidance)
        assert outputs[:, 0, 0, 0].tolist() == expected
