#: slot check_series
for name, row in wide.iterrows():
    known = row.loc[row.first_valid_index() : row.last_valid_index()].notna()
    if not known.all():
        raise SystemExit(f"{path}: series {name!r} has no value at {known.idxmin()}.")
