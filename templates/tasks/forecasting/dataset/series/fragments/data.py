from math import pi

#: slot read_series
times = pd.date_range("2026-01-01", periods=800, freq="h", name="time")
rng, hours = np.random.default_rng(0), np.arange(len(times))
rows = {}
for number in range(16):
    level, slope = rng.uniform(50, 500), rng.normal(0, 0.02)
    size = level * rng.uniform(0.1, 0.3)
    one, two = rng.uniform(0, 2 * pi, 2)
    day, cycle = np.sin(2 * pi * hours / 24 + one), np.sin(2 * pi * hours / 60 + two)
    noise = rng.normal(0, 0.3, len(hours))
    rows[f"series {number}"] = level + slope * hours + size * (day + 0.7 * cycle + noise)
return pd.DataFrame(rows, index=times).T.rename_axis("series")

#: slot find_borders
def find_borders(times: pd.Index, config) -> list[int]:
    """The first steps of the validation and the test data."""
    return [int(0.8 * len(times)), int(0.9 * len(times))]

#: slot read_table
def read_table(path: str, config) -> pd.DataFrame:
    """The rows of a CSV file with the columns time, value and series."""
    try:
        table = pd.read_csv(path, dtype={"series": str})
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
    if missing := [name for name in ("time", "value", "series") if name not in table]:
        raise SystemExit(f"{path} lacks the columns {', '.join(missing)}.")
    return table
