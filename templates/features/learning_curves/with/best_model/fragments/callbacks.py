#: slot points
scored = [line for line in lines if {{ features.best_model.monitor | python }} in line]
if name.startswith("test_") and scored:  # the tested weights are the best ones
    best = max(scored, key=lambda line: {{ features.best_model.sign }}line[{{ features.best_model.monitor | python }}])
    points = [(best["step"], value) for _, value in points]
