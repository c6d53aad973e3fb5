"""The page of app.py, as a browser shows it, and the function behind it."""

import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from support.files import write_files
from support.rendering import render
from support.training import OFFLINE, clean_environment, count_passed, run, run_tests, start

pytestmark = [
    pytest.mark.train,  # to import it would make each run of any test seconds longer
    pytest.mark.skipif(find_spec("gradio") is None, reason="gradio is not installed"),
]

FEATURE = {"features.app.enabled": True}
SHORT = ["train.py", "--max-steps", "30", "--epochs", "1"]
IMAGE = 'from PIL import Image; Image.new("L", (8, 8), 200).save("image.png")'


def test_the_function_behind_the_page(tmp_path: Path) -> None:
    folder = write_files(tmp_path, render(FEATURE))
    assert count_passed(run_tests(folder, "tests/test_app.py")) == 1


@contextmanager
def opened(folder: Path) -> Iterator[str]:
    """The address that app.py prints. Ctrl-C ends it without a word."""
    environment = {**clean_environment(), **OFFLINE, "PYTHONUNBUFFERED": "1"}
    with (folder / "errors.txt").open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "app.py"],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        assert process.stdout
        try:
            printed = ""
            while not (found := re.search(r"http://127\.0\.0\.1:\d+", printed)):
                line = process.stdout.readline()
                assert line, f"{printed}{(folder / 'errors.txt').read_text()[-2000:]}"
                printed += line
            yield found[0]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
            process.stdout.close()
    assert "Traceback" not in (folder / "errors.txt").read_text()


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    """Chromium without a window, driven by Selenium."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="Selenium is not installed")
    paths = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if not all(paths):
        pytest.skip("there is no browser: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = paths[0]
    for flag in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "no-proxy-server"):
        options.add_argument(f"--{flag}")
    service = webdriver.ChromeService(executable_path=paths[1])
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


def find(browser: Any, selector: str) -> Any:
    return wait_for(lambda: browser.find_element("css selector", selector))


def read_class(browser: Any) -> str:
    return str(wait_for(lambda: find(browser, "[data-testid=label-output-value]").text))


def submit(browser: Any) -> None:
    path = "//button[normalize-space()='Submit']"
    wait_for(lambda: browser.find_element("xpath", path).click() or True)


def wait_for(read: Any) -> Any:
    """What `read` returns as soon as that is something."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if found := read():
                return found
        except Exception:  # the page draws itself anew
            pass
        time.sleep(0.2)
    raise AssertionError("the page did not change")


def train(folder: Path, **answers: Any) -> Path:
    project = write_files(folder, render({**FEATURE, **answers}))
    run(project, *SHORT)
    return project


@pytest.mark.sweep
def test_a_browser_shows_the_class_of_an_image(tmp_path: Path, browser: Any) -> None:
    """That of predict.py. What is wrong is said on the page."""
    project = train(tmp_path)
    run(project, "-c", IMAGE)
    label = start(project, ["predict.py", "image.png"]).stdout.splitlines()[1].split(",")[1]
    with opened(project) as address:
        browser.get(address)
        find(browser, "input[type=file]").send_keys(str(project / "image.png"))
        wait_for(
            lambda: browser.find_elements("css selector", ".image-container img, img[src*=file]")
        )
        submit(browser)
        assert read_class(browser) == label
        browser.get(address)
        submit(browser)
        assert wait_for(lambda: "Choose an image first." in browser.page_source)


@pytest.mark.sweep
def test_a_browser_shows_the_class_of_a_row(tmp_path: Path, browser: Any) -> None:
    """At first of the example, which can be edited. What is wrong with it is said on the page."""
    from selenium.webdriver import ActionChains, Keys

    def first_cell() -> Any:
        return browser.find_element("xpath", "//span[normalize-space(text())='17.99']")

    project = train(tmp_path, **{"project.task": "tabular_classification"})
    with opened(project) as address:
        browser.get(address)
        wait_for(first_cell)
        submit(browser)
        assert read_class(browser) in ("malignant", "benign")
        ActionChains(browser).double_click(wait_for(first_cell)).pause(1).perform()
        keys = ActionChains(browser).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL)
        keys.send_keys("wrong", Keys.ENTER).pause(1).perform()
        submit(browser)
        assert wait_for(lambda: "could not convert string to float" in browser.page_source)
