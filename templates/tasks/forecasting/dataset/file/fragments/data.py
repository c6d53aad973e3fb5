#: slot read_series
return arrange(read_table(config.path, config), config.path, config.frequency)

#: slot find_borders
def find_borders(times: pd.Index, config) -> list[int]:
    """The first steps of the validation and the test data."""
    borders = []
    for flag, given, share in (
        ("--val-from", config.val_from, 0.8),
        ("--test-from", config.test_from, 0.9),
    ):
        try:
            borders.append(find_place(times, given) if given else int(share * len(times)))
        except (TypeError, ValueError) as error:
            raise SystemExit(f"{flag} {given}: {error}") from error
    if not 0 < borders[0] < borders[1] < len(times):
        raise SystemExit(
            f"{config.path} has times from {times[0]} to {times[-1]}: --val-from and --test-from "
            "must be between them, in this order."
        )
    return borders


def find_place(times: pd.Index, time: str) -> int:
    """How many of the times are before this one."""
    is_date = isinstance(times, pd.DatetimeIndex)
    return int(times.searchsorted(pd.Timestamp(time) if is_date else int(time)))

#: slot read_table
# how files write that there is no value; NA can also be the name of a series
MISSING = ["", "NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "NULL", "null", "None"]


def read_table(path: str, config) -> pd.DataFrame:
    """The rows of a file, with the columns time, value and series."""
    names = {config.time_column: "time", config.value_column: "value"}
    if config.series_column:
        names[config.series_column] = "series"
    try:
        if path.lower().endswith(".parquet"):
            table = pd.read_parquet(path)
            if not isinstance(table.index, pd.RangeIndex):
                table = table.reset_index()  # the index often holds the time
        else:
            missing = {config.time_column: [""], config.series_column: [""]}
            missing |= {config.value_column: MISSING}
            settings = {"keep_default_na": False, "na_values": missing}
            table = pd.read_csv(path, dtype={config.series_column: str}, **settings)
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
    if missing := [name for name in names if name not in table]:
        flag = f"--{names[missing[0]]}-column"
        found = ", ".join(map(str, table.columns))
        raise SystemExit(f"{path} has no column {missing[0]!r}. Set {flag} to one of {found}.")
    table = table[list(names)].rename(columns=names)
    if not config.series_column:
        return table.assign(series="all")
    return table
