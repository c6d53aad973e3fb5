#: slot check_table
if empty := [str(name) for name in table.drop(columns=dropped) if table[name].isna().any()]:
    raise SystemExit(f"{path} has empty cells in {', '.join(empty)}: fill them, or drop the rows.")
