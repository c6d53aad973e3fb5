from callbacks import ClassMetricsCallback
from metrics import ClassMetrics

#: slot before_evaluation when place=loop
class_metrics = ClassMetrics()

#: slot evaluated_batch when place=loop
class_metrics.add(predictions, labels, classes=logits.shape[-1])

#: slot evaluated when place=loop
, **class_metrics.compute(name)

#: slot functions when place=callback
class_metrics = ClassMetricsCallback()  # filled by evaluate(), read by main()

#: slot before_evaluation when place=callback
class_metrics.before_evaluation(name)

#: slot evaluated_batch when place=callback
class_metrics.after_batch(name, predictions, labels, classes=logits.shape[-1])

#: slot more_metrics when place=callback
class_metrics.after_evaluation(metrics)

#: slot after_test when place=callback
class_metrics.after_evaluation(metrics)
