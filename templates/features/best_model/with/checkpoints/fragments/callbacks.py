#: slot best_model_state
def state_dict(self) -> dict:
    return {"score": self.score}

def load_state_dict(self, state: dict) -> None:
    self.score = state["score"]
