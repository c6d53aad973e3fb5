#: slot functions_at_end
def start() -> None:
    """Called by `accelerate launch` on each TPU core."""
    main(parse_flags(Config, __doc__))

#: replace start
start()
