#: with sounds
import wave

import gradio as gr
import pytest

#: slot values
with wave.open(str(tmp_path / "sound.wav"), "wb") as file:
    file.setparams((1, 2, 8000, 0, "NONE", ""))
    file.writeframes(bytes(range(250)) * 20)
(tmp_path / "text.wav").write_text("not a sound")
with pytest.raises(gr.Error, match="^.text.wav can't be read"):
    page.fn(str(tmp_path / "text.wav"))
with pytest.raises(gr.Error, match="Choose a sound first"):
    page.fn(None)
values = [str(tmp_path / "sound.wav")]
