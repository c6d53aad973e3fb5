from callbacks import Throughput

#: slot setup
throughput = Throughput(
    accelerator, train_loss, progress, total_steps
    #: slot throughput
)

#: slot start_of_epoch
throughput.start_epoch()

#: slot after_log
log(throughput.read())
