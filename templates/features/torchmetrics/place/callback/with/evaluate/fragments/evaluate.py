from train import class_metrics

#: slot more_metrics
class_metrics.after_evaluation(metrics)
