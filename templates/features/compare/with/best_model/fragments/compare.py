#: replace metric
METRIC = {{ features.best_model.monitor | python }}  # compared if no other metric is asked for
