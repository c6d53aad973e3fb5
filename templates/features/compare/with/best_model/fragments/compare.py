#: replace metric
METRIC = {{ features.best_model.monitor | python }}  # unless --metric names another
