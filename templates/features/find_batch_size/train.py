from accelerate.utils import find_batch_size

from micro_batches import MicroBatches

#: slot setup
micro_batches = MicroBatches(accelerator, model, train_loss)

#: slot states
, "micro_batches": micro_batches

#: replace batches
for whole in bar:
    ...  #: keep finished
    batch_size = find_batch_size(whole)
    for parts in micro_batches.attempts(whole):
        loss = None  # frees the tensors of a failed attempt
        with micro_batches.noting_failure():
            for batch in parts:
                with micro_batches.exchange(last=batch is parts[-1]):
                    {{ task.unpack }}
                    ...  #: keep forward
                    # every sample has the same weight, in parts of any size
                    accelerator.backward(loss * (find_batch_size(batch) / batch_size))
    progress.batch += 1
    ...  #: keep optimize

#: slot before_end
micro_batches.model = None  # so that free_memory() frees it

#: replace count_batch
