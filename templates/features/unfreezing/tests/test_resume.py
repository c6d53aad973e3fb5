#: replace same
# after a resume, optimizer.bin has the same values in another order
if one.name == "optimizer.bin":
    states = [torch.load(path, weights_only=True) for path in (one, other)]
    torch.testing.assert_close(states[0]["state"], states[1]["state"], rtol=0, atol=0)
    same = states[0]["param_groups"] == states[1]["param_groups"]
else:
    same = one.read_bytes() == other.read_bytes()
