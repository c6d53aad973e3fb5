from math import inf, isclose

#: slot values
intervals, report = {}, run / "evaluation/test/metrics.json"
for name, row in json.loads(report.read_text()).items() if report.exists() else []:
    # only if they belong to these weights
    if "low" in row and isclose(row["value"], metrics.get(name, inf), rel_tol=1e-3):
        intervals[name] = f"{row['low']:.5g} to {row['high']:.5g}"
values["intervals"] = intervals
if not intervals:
    print(f"The metrics in the card have no intervals: run evaluate.py --run {run} first.")
