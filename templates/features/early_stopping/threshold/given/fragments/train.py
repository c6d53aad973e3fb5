#: replace early_stop
if early_stopping.reached:
    log("early stop: {{ features.early_stopping.monitor }} reached {{ features.early_stopping.threshold }}")
    break
...  #: keep out_of_patience

#: slot after_evaluation
early_stopping.reached |= metrics[{{ features.early_stopping.monitor | python }}] {{ "<=" if features.early_stopping.sign else ">=" }} {{ features.early_stopping.threshold }}
