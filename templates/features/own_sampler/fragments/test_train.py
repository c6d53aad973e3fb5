#: slot tests
def test_the_sampler_says_how_many_it_draws():
    sampler = build_loaders(train.Config())[0].sampler
    assert len(list(sampler)) == len(sampler), "count_updates counts on __len__"


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
