#: replace loss_falls
def test_loss_falls(tmp_path, capsys):
    run(tmp_path, epochs=3, limit_batches=60)  # the loss starts to fall late
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("epoch")]
    losses = [float(line.split("train_loss ")[1].split()[0]) for line in lines]
    assert losses[-1] < losses[0], f"training does not lower the loss: {losses}"
