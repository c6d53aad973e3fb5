#: replace metric
METRIC, DIRECTION = {{ features.best_model.monitor | python }}, {{ ("minimize" if features.best_model.sign else "maximize") | python }}

#: replace value
value = max(values) if DIRECTION == "maximize" else min(values)
