from deepspeed_data import only_data

#: wrap load_state
with only_data(self.accelerator):
    ...  #: body
