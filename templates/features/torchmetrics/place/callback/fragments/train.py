from callbacks import ClassMetricsCallback

#: slot functions
class_metrics = ClassMetricsCallback()  # filled by evaluate(), read by main()

#: slot before_evaluation
class_metrics.before_evaluation(name)

#: slot evaluated_batch
class_metrics.after_batch(name, predictions, labels, classes=logits.shape[-1])

#: slot more_metrics
class_metrics.after_evaluation(metrics)

#: slot after_test
class_metrics.after_evaluation(metrics)
