from accelerate.utils import broadcast_object_list
from files import checksum
from progress import log

#: slot best_model_setup
self.digest = ""

#: slot best_model_saved
self.digest = checksum(self.path)

#: slot best_model_state
def state_dict(self) -> dict:
    return {"score": self.score, "digest": self.digest}

def load_state_dict(self, state: dict) -> None:
    # another run may have replaced the file; the main process decides for all processes
    same = self.path.exists() and checksum(self.path) == state["digest"]
    if broadcast_object_list([same])[0]:
        self.score, self.digest = state["score"], state["digest"]
    else:
        log(f"{self.path} is not the best model of this checkpoint: its score is not used")
