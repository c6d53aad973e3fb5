from accelerate.utils import find_batch_size
from micro_batches import MicroBatches

#: slot setup
micro_batches = MicroBatches(accelerator, model, train_loss)
checkpoints.states["micro_batches"] = micro_batches

#: replace batches
for whole in remaining_batches(accelerator, train_loader, progress, batches_per_epoch):
    batch_size = find_batch_size(whole)
    for parts in micro_batches.attempts(whole):
        loss = None  # lets go of what an attempt that failed has computed
        with micro_batches.computing():
            for batch in parts:
                with micro_batches.exchange(last=batch is parts[-1]):
                    ...  #: keep forward
                    # backward: every sample counts the same, in parts of any size
                    accelerator.backward(loss * (find_batch_size(batch) / batch_size))
    progress.batch += 1
    ...  #: keep update
