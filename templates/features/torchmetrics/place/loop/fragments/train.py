from metrics import ClassMetrics

#: slot before_evaluation
class_metrics = ClassMetrics()

#: slot evaluated_batch
class_metrics.add(predictions, labels, classes=logits.shape[-1])

#: slot evaluated
, **class_metrics.compute(name)
