#: file
"""The page of app.py shows what predict() returns."""

import app
from helpers import run


def test_the_page_shows_predictions(tmp_path):
    run(tmp_path, epochs=1, limit_batches=2)
    config, model = app.load(tmp_path)
    page = app.build_page(config, model)
    assert not page.analytics_enabled
    ...  #: slot values
    #: region shown
    shown = page.fn(*values)
    #: end shown
    ...  #: slot expected
