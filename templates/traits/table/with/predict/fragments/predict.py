from torch import Tensor

#: slot batches
for table in share.split(4 * config.batch_size):
    predictions = model(table.to(device))
    #: region predicted
    rows += [{"prediction": value} for value in predictions.tolist()]
    #: end predicted

#: replace rows
return [{"row": number, **row} for number, row in enumerate(gather_object(rows), start=1)]
