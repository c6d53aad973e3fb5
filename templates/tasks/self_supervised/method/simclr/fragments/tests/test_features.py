from contrast import compare_views
from helpers import run
from PIL import Image

#: slot tests
def test_the_loss_is_that_of_all_other_views():
    """Formula 1 of https://arxiv.org/abs/2002.05709, one view after the other."""
    vectors = torch.randn(5, 2, 3, dtype=torch.float64)
    views = [(image, view) for image in range(5) for view in range(2)]
    expected = []
    for image, view in views:
        others = [other for other in views if other != (image, view)]
        similar = torch.stack([vectors[image, view] @ vectors[other] for other in others])
        positive = similar[others.index((image, 1 - view))]
        expected.append(-(positive.exp() / similar.exp().sum()).log())
    expected = torch.stack(expected).reshape(5, 2).mean(dim=1)
    torch.testing.assert_close(compare_views(vectors, vectors, torch.arange(5)), expected)
    torch.testing.assert_close(train.compare_all(vectors), expected)


def test_both_views_are_drawn(tmp_path):
    data = build_loaders(train.Config(**SETTINGS))[0].dataset
    image, views = data[0]
    assert views.shape == (2, *image.shape)
    assert not torch.equal(views[0], views[1]) and not torch.equal(views[0], image)
    numbers = torch.get_rng_state()
    assert torch.equal(data[0][1], views) and torch.equal(torch.get_rng_state(), numbers)
    run(tmp_path, limit_batches=2, epochs=1)
    with Image.open(tmp_path / "views.png") as picture:
        assert picture.width > picture.height, "up to 16 images in three rows"
