import torch
from PIL import Image
from torch import nn

import train
from data import build_loaders, image_shape
from diffusion import ANY_CLASS, add_noise, find_targets, fixed_noise, guide, sample
from distance import Moments, frechet_distance
from helpers import SETTINGS, run

#: into tests/test_app.py
#: slot values
#: region values
values = [3]
#: end values

#: slot expected
assert shown.width > 2 * shown.height, "three images next to each other"

#: replace values when condition=classes
values = [3, 1]

#: into tests/test_features.py
#: slot tests
def test_training_has_new_noise_in_each_epoch_and_evaluation_has_not():
    config = train.Config(**SETTINGS)
    train_set, val_set, _ = (loader.dataset for loader in build_loaders(config))

    def find_noise(data) -> list[float]:
        rows = [data[row] for row in range(min(5, len(data)))]
        return [float(value) for _, noise, time, *_ in rows for value in (noise.sum(), time)]

    first, fixed = find_noise(train_set), find_noise(val_set)
    assert len({*first}) > 5, "all images have the same noise"
    train_set.set_epoch(1)
    assert not {*find_noise(train_set)} & {*first[::2]}, "two epochs have the same noise"
    train_set.set_epoch(0)
    assert find_noise(train_set) == first, "a resumed run has different noise"
    assert find_noise(val_set) == fixed


def test_a_model_that_knows_an_image_generates_it():
    shape = image_shape(train.Config(**SETTINGS))
    image = torch.rand(1, *shape, generator=torch.Generator().manual_seed(0))

    class Knowing(nn.Module):
        def forward(self, noisy, times, *labels):
            known = (2 * image - 1).expand_as(noisy)
            still = add_noise(known, torch.zeros_like(noisy), times)
            spread = add_noise(torch.zeros_like(noisy), torch.ones_like(noisy), times)
            return find_targets(known, (noisy - still) / spread, times)

    for steps in (1, 7, 100):
        #: region sampled
        images = sample(Knowing(), fixed_noise([0, 1], shape), steps=steps)
        #: end sampled
        torch.testing.assert_close(images, image.expand_as(images), rtol=0, atol=1e-4)


def test_samples_are_drawn_after_each_evaluation(tmp_path):
    run(tmp_path)
    height, width = image_shape(train.Config(**SETTINGS))[1:]
    pictures = sorted(tmp_path.glob("samples_*.png"))
    assert pictures[-1].name == "samples_00000012.png", "they have the number of their step"
    for path in pictures:
        with Image.open(path) as picture:
            assert picture.width * 4 * (height + 2) == picture.height * 16 * (width + 2)

#: replace sampled when condition=classes
images = sample(Knowing(), fixed_noise([0, 1], shape), torch.tensor([0, 1]), 2.0, steps)

#: slot tests when condition=classes
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

#: replace held_out with cross_validation
held_out += val_loader.dataset.images.indices

#: into tests/test_predict.py
#: slot metric
real, generated = Moments(), Moments()
#: region numbers
for images, *_ in read_batches(config):
    numbers = range(real.count, real.count + len(images))
    #: end numbers
    real.add(images)
    #: region predicted
    rows = predict.predict(config, model, list(numbers))
    #: end predicted
    generated.add(torch.stack([row["image"] for row in rows]))
assert frechet_distance(real, generated) == pytest.approx(reported["test_distance"], rel=1e-5)

#: slot five
#: region five_rows
rows = predict.predict(config, model, list(range(5)))
#: end five_rows
rows = [{"number": row["number"], "mean": float(row["image"].mean())} for row in rows]

#: replace numbers when condition=classes
for images, *_, labels in read_batches(config):
    numbers = range(real.count, real.count + len(images))

#: replace predicted when condition=classes
pairs = list(zip(numbers, labels.tolist(), strict=True))
rows = predict.predict(config, model, pairs, guidance=1.0)

#: replace five_rows when condition=classes
rows = predict.predict(config, model, [(number, 1) for number in range(5)])
