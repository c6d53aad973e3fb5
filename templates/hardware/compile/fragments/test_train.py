from unittest import mock

#: slot environment
os.environ["TORCHDYNAMO_DISABLE"] = "1"  # what is proven is the loop: compiling each run is slow

#: slot tests
def test_the_model_is_compiled(tmp_path):
    with mock.patch.object(nn.Module, "compile", autospec=True) as compiled:
        run(tmp_path, epochs=1)
    assert compiled.called, "no part of the model is compiled"
    trained = load_file(tmp_path / "model.safetensors").keys()
    assert trained <= build_model(train.Config()).state_dict().keys(), "weights have other names"
