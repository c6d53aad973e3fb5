"""The page of `scaffold web` in a real browser: Debian's chromium, driven by playwright.

`bash .ci/browser` gets what this needs, and runs all of it. Without playwright or chromium, nothing
of it runs. AXE names the file axe.min.js of the npm package axe-core; PYODIDE the folder of the npm
package pyodide, for the exported page.
"""

import functools
import http.server
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from scaffold.answers.manifests import load_catalog
from scaffold.cache import remember
from scaffold.project.origin import find_origin
from scaffold.render.project import build_project
from scaffold.web.page import NAME
from support.files import replace_in
from support.wishes import random_wishes

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-renderer-backgrounding", "--disable-background-timer-throttling"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")]
TOOL = Path(sys.executable).with_name("scaffold")
WAIT = 60_000  # milliseconds: other tests run beside
BUSY = 5  # times that a page may take on a machine that does other things
SOME = ("ema", "throughput", "early_stopping", "stop_on_nan", "clipping")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=[*OPTIONS])
        yield running
        running.close()


@contextmanager
def served(folder: Path, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`scaffold web` in a folder: the address that it prints."""
    command = [TOOL, "web", "--no-open", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.terminate()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A tab in which nothing goes wrong that nobody sees."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(WAIT)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    yield tab
    context.close()
    assert not errors


def turn(page: Any, feature: str) -> None:
    page.locator(f'[data-key="features.{feature}.enabled"] input').first.click()


def told(page: Any, text: str) -> None:
    """Wait until the page tells the last answer."""
    page.locator(".last b", has_text=text).wait_for()


# click, and wait in the page itself: playwright's own steps take longer than some answers
TAKE_TIME = """
async (feature) => {
    const start = performance.now()
    const until = async (holds) => {
        while (!holds()) await new Promise(requestAnimationFrame)
        return performance.now() - start
    }
    const bar = document.querySelector(".bar")
    document.querySelector(`[data-key="features.${feature}.enabled"] input`).click()
    await until(() => bar.classList.contains("busy"))
    const files = await until(() => !bar.classList.contains("busy"))
    await until(() => location.hash.includes(feature))
    return files / 1000
}
"""


def seconds_until_files(page: Any, feature: str) -> float:
    """How long it takes after an answer until the page has the files; waits for its questions."""
    page.locator(f'[data-key="features.{feature}.enabled"] input').first.wait_for()
    return float(page.evaluate(TAKE_TIME, feature))


def test_from_the_first_question_to_a_written_project(page: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, _):
        page.goto(address)
        page.locator(".cm-line").first.wait_for()
        assert page.locator(".cm-insertedLine, .cm-changedLine").count() == 0
        turn(page, "ema")
        told(page, "EMA of the weights: on")
        assert page.locator(".cm-changedLine, .cm-insertedLine").count() > 0
        lit = page.locator(".cm-changedLine, .cm-insertedLine").all_inner_texts()
        gone = page.locator(".cm-deletedLine").all_inner_texts()
        assert (
            "from callbacks import Ema" in lit and "from checkpoint import Checkpoints" not in lit
        )
        assert not {*lit} & {*gone}  # no line that stays as it is
        changed = page.locator(".file.changed").all_inner_texts()
        assert any(row.startswith("train.py") for row in changed)
        assert any(
            row.startswith("callbacks.py") for row in page.locator(".file.new").all_inner_texts()
        )
        page.get_by_role("button", name="Write").click()
        page.locator("#folder").fill("../elsewhere")
        page.locator("dialog .row .primary").click()
        page.get_by_text("this page writes only below").wait_for()
        page.locator("#folder").fill("net")
        page.locator("dialog .row .primary").click()
        page.get_by_text("Wrote").wait_for()
        commands = page.locator("dialog [role=status] pre").inner_text()
    assert "Ema" in (tmp_path / "net" / "train.py").read_text()
    assert not (tmp_path.parent / "elsewhere").exists()
    assert commands.startswith(f"cd {tmp_path / 'net'} && pip install")
    train = shlex.split(commands.rpartition("&& ")[2])
    assert train == ["python", "train.py"]
    brief = [sys.executable, *train[1:], "--epochs", "1", "--limit-batches", "4"]
    result = subprocess.run(brief, cwd=tmp_path / "net", capture_output=True, text=True)
    assert result.returncode == 0 and "test_accuracy" in result.stdout, result.stderr


def test_an_answer_shows_at_once(page: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, _):
        page.goto(address)
        page.locator(".cm-line").first.wait_for()
        times = [seconds_until_files(page, feature) for feature in SOME]
    assert median(times) < 0.3 * BUSY


def test_a_line_tells_its_template(page: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, _):
        page.goto(f"{address}#features.ema.enabled=true")
        page.locator(".file", has_text="callbacks.py").click()
        row = page.locator(".cm-line", has_text="class Ema").first
        row.hover(position={"x": 30, "y": 9})  # on its text
        page.locator(".origin").wait_for()
        assert (
            page.locator(".origin").inner_text().startswith("templates/features/ema/callbacks.py:")
        )
        assert "with ema" in page.locator(".origin").inner_text()


def test_going_back_and_a_link(page: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, _):
        page.goto(address)
        page.locator(".cm-line").first.wait_for()
        turn(page, "ema")
        told(page, "EMA")
        page.wait_for_url("**#features.ema.enabled=true")
        link = page.url
        page.get_by_role("button", name="Take back").click()
        told(page, "going back")
        page.wait_for_url(lambda url: "#" not in url)
        page.locator('[data-key="features.ema.enabled"] input:not(:checked)').first.wait_for(
            state="attached"
        )
        other = page.context.new_page()  # a second tab beside the first
        other.goto(link)
        other.locator('[data-key="features.ema.decay"]').wait_for()
        turn(page, "throughput")
        told(page, "Throughput")
        turn(other, "early_stopping")
        told(other, "Early stopping")
        assert "throughput" not in other.url and "ema" not in page.url


def test_a_wrong_value_is_told_where_it_was_typed(page: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, _):
        page.goto(address)
        field = page.locator('[data-key="training.epochs"] input')
        field.fill("many")
        field.press("Enter")
        error = page.locator('[data-key="training.epochs"] .error')
        error.wait_for()
        assert "whole number" in error.inner_text()
        assert field.get_attribute("aria-invalid") == "true" and field.input_value() == "many"
        field.fill("7")
        field.press("Enter")
        told(page, "training.epochs = 7")
        error.wait_for(state="detached")


def test_a_choice_that_resets_another_answer_says_so(page: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, _):
        link = "#features.ema.enabled=true&hardware.distributed_type=MULTI_GPU"
        page.goto(address + link)
        chip = page.locator('[data-key="hardware.sharding"] label', has_text="fsdp")
        chip.wait_for()
        chip.click()
        page.locator(".banners .warn").wait_for()
        text = page.locator(".banners .warn").inner_text()
        assert "features.ema.enabled is back to its default" in text


def test_search_finds_settings_and_code(page: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, _):
        page.goto(address)
        page.locator(".cm-line").first.wait_for()
        page.keyboard.press("/")
        page.keyboard.type("label_smoothing")
        page.locator(".hits [role=option]", has_text="training.label_smoothing").first.wait_for()
        page.keyboard.press("Enter")
        field = page.locator('[data-key="training.label_smoothing"] input')
        field.wait_for()
        page.keyboard.press("Control+k")
        page.keyboard.press("Control+a")
        page.keyboard.type("def parse_config")
        page.locator(".hits [role=option]", has_text="config.py").first.wait_for()
        page.keyboard.press("Enter")
        page.locator("main h2", has_text="config.py").wait_for()


def test_a_page_that_is_left_open_says_that_the_command_has_ended(
    page: Any, tmp_path: Path
) -> None:
    with served(tmp_path) as (address, process):
        page.goto(address)
        page.locator(".cm-line").first.wait_for()
        page.locator('[data-key="features.ema.enabled"]').wait_for()
        process.terminate()
        process.wait()
        turn(page, "ema")
        page.get_by_text("has ended").wait_for()
        assert page.locator(".cm-line").count() > 10  # what was there stays
        with served(tmp_path, "--port", address.split(":")[2].split("/")[0]) as (_, _):
            turn(page, "throughput")
            page.get_by_text("belongs to a command that has ended").wait_for()


MINE = "accelerator.clip_grad_norm_(model.parameters(), 0.5)  # mine"


def make_edited(folder: Path) -> Path:
    """The training script of a project, with an edited line that a feature has written."""
    subprocess.run([TOOL, "new", "net", "--yes"], cwd=folder, check=True, capture_output=True)
    script = folder / "net" / "train.py"
    replace_in(script, MINE.replace("0.5)  # mine", "config.max_grad_norm)"), MINE)
    return script


def test_an_update_with_a_conflict(page: Any, tmp_path: Path) -> None:
    script = make_edited(tmp_path)
    before = script.read_text()
    with served(tmp_path, "net") as (address, _):
        page.goto(address)
        page.get_by_text("You edited 1 file").wait_for()
        turn(page, "clipping")
        conflict = page.locator(".conflict")
        conflict.wait_for()
        assert "features.clipping.enabled = false" in conflict.inner_text()
        assert MINE in conflict.inner_text()
        page.get_by_role("button", name="Apply, and leave 1 conflict").wait_for()
        conflict.get_by_role("button", name="Edit", exact=True).click()
        conflict.get_by_role("textbox").fill("            grad_norm = 0.0  # decided")
        script.write_text(script.read_text() + "# later\n")  # meanwhile, in an editor
        page.get_by_text("has changed on the disk").wait_for()
        page.get_by_role("button", name="Show it as it is now").click()
        page.get_by_text("has changed on the disk").wait_for(state="detached")
        conflict.get_by_role("button", name="Keep yours").click()
        page.get_by_role("button", name="Apply the update").click()
        page.get_by_text("Updated net.").wait_for()
        text = script.read_text()
        assert MINE in text and "<<<<" not in text and text.endswith("# later\n")
        page.get_by_role("button", name="Undo the last update").click()
        page.get_by_text("Undid").wait_for()
        assert script.read_text() == before + "# later\n"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_serious(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    with seen(browser, width, scheme) as page, served(tmp_path) as (address, _):
        page.goto(f"{address}#features.ema.enabled=true")
        page.locator('[data-key="features.ema.decay"]').wait_for()
        turn(page, "throughput")
        (told(page, "Throughput") if width > 700 else page.wait_for_url("**throughput**"))
        for pane in ("Answers", "Files", "Code") if width < 700 else ("",):
            if pane:
                page.locator(".tabs button", has_text=pane).click()
            check_axe(page)
        page.get_by_role("button", name="Write").click()
        check_axe(page)
        for name in ("index", "features/ema", "coming-from/lightning", "examples/forecasting"):
            page.goto(f"{address.partition('?')[0]}docs/{name}.html")
            check_axe(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_a_conflict(browser: Any, tmp_path: Path, scheme: str) -> None:
    make_edited(tmp_path)
    with seen(browser, 1440, scheme) as page, served(tmp_path, "net") as (address, _):
        page.goto(address)
        turn(page, "clipping")
        page.locator(".conflict").wait_for()
        check_axe(page)
        page.get_by_role("button", name="Edit", exact=True).click()
        check_axe(page)


@contextmanager
def seen(browser: Any, width: int, scheme: str) -> Iterator[Any]:
    """A tab that axe can look at."""
    if not Path(os.environ.get("AXE", "")).is_file():
        pytest.skip("AXE names no axe.min.js")
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True
    )
    context.set_default_timeout(WAIT)
    yield context.new_page()
    context.close()


def check_axe(page: Any) -> None:
    page.add_script_tag(path=os.environ["AXE"])
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) >= 15, "axe did not look"
    faults = sorted(rule["id"] for rule in found["violations"])
    print(f"axe: {len(found['passes'])} rules passed, faults: {faults or 'none'}")
    serious = [
        (rule["id"], [node["html"][:160] for node in rule["nodes"]][:4])
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
    ]
    assert not serious


def test_a_phone_needs_no_scrolling_to_the_side(browser: Any, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    with served(tmp_path) as (address, _):
        page.goto(address)
        page.locator(".tabs button", has_text="Code").click()
        page.locator(".cm-line").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: Any) -> Iterator[str]:
    """The address of an exported page."""
    pyodide = os.environ.get("PYODIDE", "")
    if not Path(pyodide, "pyodide.mjs").is_file():
        pytest.skip("PYODIDE names no folder of pyodide")
    folder = tmp_path_factory.mktemp("export") / "site"
    subprocess.run([TOOL, "web", "--export", folder, "--pyodide", pyodide], check=True)
    # not at the top of its server, as on GitHub Pages
    handler = functools.partial(_Quiet, directory=str(folder.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/site/"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_the_exported_page_works_without_a_network(page: Any, site: str, tmp_path: Path) -> None:
    start = time.perf_counter()
    page.goto(site)
    page.locator(".cm-line").first.wait_for()
    first_code = time.perf_counter() - start
    turn(page, "ema")
    told(page, "EMA")
    first_answer = time.perf_counter() - start
    page.wait_for_url("**ema**")
    page.wait_for_function("navigator.serviceWorker.controller !== null")
    page.context.set_offline(True)
    page.wait_for_timeout(2000)  # as somebody who looks at what has changed
    times = [seconds_until_files(page, feature) for feature in SOME[1:]]
    assert first_code < 1 * BUSY and first_answer < 8 * BUSY and max(times) < 1 * BUSY
    page.locator(".file", has_text="callbacks.py").click()
    page.locator(".cm-line", has_text="class Ema").first.hover(position={"x": 30, "y": 9})
    page.locator(".origin", has_text="with ema").wait_for()
    page.reload()
    page.locator(".cm-line").first.wait_for()
    page.locator('[data-key="features.ema.decay"]').wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Get it").click()  # the first click
        page.get_by_role("button", name=f"{NAME}.zip").click()  # the second
    download.value.save_as(tmp_path / f"{NAME}.zip")
    command = page.locator("dialog .command pre").first.inner_text()
    assert command.startswith(f"unzip -q {NAME}.zip && cd {NAME} && pip install")
    shutil.unpack_archive(tmp_path / f"{NAME}.zip", tmp_path)
    subprocess.run(
        [sys.executable, "-m", "compileall", "-q", tmp_path / NAME], check=True, timeout=100
    )


ZIP = """
async (wishes) => {
  window.python ??= new Worker("worker.js", { type: "module" })
  return await new Promise((resolve, reject) => {
    window.python.onmessage = ({ data }) => {
      if ("result" in data) resolve(data.result)
      else if ("error" in data || "broken" in data) reject(new Error(data.error ?? data.broken))
    }
    window.python.postMessage({ number: 1, name: "zip", body: JSON.stringify({ wishes }) })
  })
}
"""


@pytest.mark.parametrize("number", [4, pytest.param(300, marks=pytest.mark.sweep)])
def test_the_browser_writes_the_same_files_to_the_byte(
    page: Any, site: str, tmp_path: Path, number: int
) -> None:
    import base64
    import io
    import zipfile

    page.goto(f"{site}icon.svg")  # of the same site, without a worker of its own
    files = 0
    templates = find_origin().as_table()
    for wishes, answers in random_wishes(load_catalog(), number):
        found = json.loads(page.evaluate(ZIP, wishes))
        with zipfile.ZipFile(io.BytesIO(base64.b64decode(found["content"]))) as archive:
            made = {
                name.removeprefix(f"{NAME}/"): archive.read(name) for name in archive.namelist()
            }
        expected = build_project(load_catalog(), answers, remember, templates)
        assert made == {name: text.encode() for name, text in expected.items()}, wishes
        files += len(made)
    print(f"{files} files of {number} projects are the same")
    assert files >= 15 * number
