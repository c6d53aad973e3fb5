import torch
from data import build_datasets, build_loaders, split_known
from probe import find_right

#: slot tests
def test_probes_see_no_labels_of_new_images():
    """If features say nothing about classes, accuracy stays at chance level."""
    features, rng = torch.randn(400, 300), torch.Generator().manual_seed(0)
    labels = torch.randint(0, 4, (400,), generator=rng)
    known = torch.arange(400) < 200
    right = find_right(features, labels, known)
    others = find_right(features, torch.where(known, labels, 3 - labels), known)
    for probe in right:
        message = f"{probe} has seen the labels that it has to predict"
        assert right[probe].double().mean() < 0.4, message
        assert not (right[probe] & others[probe]).any(), "a prediction changed with its label"
    leaked = torch.cat([features[~known]] * 2), torch.cat([labels[~known]] * 2)
    leak = find_right(*leaked, known)  # with the answers among the known labels
    assert leak["linear"].double().mean() > 0.9, "this test would not see a leak"


def test_the_probes_only_know_training_images():
    config = train.Config(**SETTINGS)
    train_set, val_set, _ = build_datasets(config)
    known, others = split_known(train_set, config)
    assert len(known) + len(others) == len(train_set) and len(known) <= config.known
    assert not {*known.indices} & {*others.indices}
    data = build_loaders(config)[1].dataset
    samples = [data[row] for row in range(len(data))]
    for part, is_known in ((known, True), (val_set, False)):
        found = [(sample[0], int(sample[2])) for sample in samples if sample[3] == is_known]
        assert len(found) == len(part)
        for (image, label), expected in zip(found, part, strict=True):
            assert torch.equal(image, expected[0]) and label == int(expected[1])
