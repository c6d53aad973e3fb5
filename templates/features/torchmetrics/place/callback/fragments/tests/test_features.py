import train

#: slot class_metrics_evaluated
train.class_metrics.after_evaluation(metrics)
