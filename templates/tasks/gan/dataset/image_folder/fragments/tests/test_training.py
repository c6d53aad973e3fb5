import data
from unittest import mock

#: replace falls
# dark images in place of yours, which may be few or hard to learn
dark = 0.2 * torch.rand(640, 3, 16, 16, generator=torch.Generator().manual_seed(0))
with mock.patch.object(data, "build_datasets", lambda config: [dark] * 3):
    run(tmp_path, epochs=4, limit_batches=40)
