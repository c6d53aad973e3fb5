from accelerate import PartialState

#: slot metrics_file_state
def state_dict(self) -> dict:
    return {"text": self.path.read_text()[: self.size] if self.size else ""}

def load_state_dict(self, state: dict) -> None:
    if PartialState().is_main_process:
        self.size = self.path.write_text(state["text"])
