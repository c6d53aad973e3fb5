from data import BalancedSampler

#: slot tests
def test_classes_are_drawn_equally_often():
    """Of 1000 samples, 100 are of one class and 900 of the other: half of the draw is of each."""
    labels = torch.arange(1000).remainder(10).eq(0).long()
    sampler = BalancedSampler(labels, seed=0)
    drawn = labels[list(sampler)]
    assert len(drawn) == 1000
    assert 400 < drawn.sum() < 600
    again = list(sampler)
    sampler.set_epoch(1)
    assert list(sampler) != again, "each epoch has a draw of its own"


def test_processes_divide_one_order(tmp_path):
    order_run(tmp_path)
    launch(order_run, tmp_path)
    whole = torch.load(tmp_path / "0of1.pt")
    for rank in (0, 1):
        part = torch.load(tmp_path / f"{rank}of2.pt")
        assert all(map(torch.equal, part, whole[rank::2])), "the processes draw orders of their own"


def order_run(folder: Path) -> None:
    """Note the batches of the second epoch."""
    accelerator = Accelerator()
    loader = accelerator.prepare(build_loaders(train.Config(batch_size=16))[0])
    batches = remaining_batches(accelerator, loader, Progress(epoch=1), len(loader))
    name = f"{accelerator.process_index}of{accelerator.num_processes}.pt"
    torch.save([first(batch) for batch in batches], folder / name)
