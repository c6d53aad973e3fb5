from workarounds import skip_search_for_lomo, skip_signature_of_zero_grad

#: slot before_accelerator
skip_search_for_lomo()
skip_signature_of_zero_grad()
