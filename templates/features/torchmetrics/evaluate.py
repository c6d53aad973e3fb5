from train import class_metrics

#: slot more_metrics when place=callback
class_metrics.after_evaluation(metrics)
