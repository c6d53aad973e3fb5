#: slot functions_at_end
def start_training() -> None:
    """Called by `accelerate launch` on each TPU core."""
    main(parse_flags(Config, __doc__))

#: replace start
start_training()
