from metrics import EpochOutputs, count_errors

#: slot functions
epoch_outputs = EpochOutputs()  # evaluate() adds to it, main() reads it

#: slot before_evaluation
epoch_outputs.clear()

#: slot evaluated_batch
epoch_outputs.add(accelerator, predictions, labels)

#: slot more_metrics
log(f"errors by class: {count_errors(*epoch_outputs.gather())}")
