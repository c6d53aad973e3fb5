from accelerate.utils import gather_object
from torch import Tensor

#: slot batches
for table in share.split(4 * config.batch_size):
    predictions = model(table.to(device))
    #: region outputs
    outputs += predictions.tolist()
    #: end outputs
