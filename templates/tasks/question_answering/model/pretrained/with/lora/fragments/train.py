from workarounds import keep_token_types

#: slot before_accelerator
keep_token_types()
