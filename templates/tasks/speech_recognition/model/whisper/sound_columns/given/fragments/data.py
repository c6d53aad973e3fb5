#: slot long_text
if len(text.encode()) >= config.max_tokens:  # a token has at least one byte
    tokens = build_tokenizer(config).count(text)
    if tokens > config.max_tokens:
        raise SystemExit(
            f"{place}: its text has {tokens} tokens, and --max-tokens is {config.max_tokens}. "
            "Raise it, split the sound, or leave the row out."
        )

#: slot left_out
build_tokenizer(config)  # which refuses models of other kinds
if config.seconds > count_seconds(config):
    raise SystemExit(
        f"--seconds {config.seconds:g}: {config.pretrained_name!r} hears "
        f"{count_seconds(config)} seconds: lower it."
    )
