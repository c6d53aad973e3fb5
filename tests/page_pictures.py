"""Takes the two pictures of the page of `scaffold web`, for the README.

`python tests/page_pictures.py` needs playwright and chromium, as the tests of the page do, and
writes scaffold/web/pages/page_answer.png and page_conflict.png.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from support.paths import REPOSITORY

PICTURES = REPOSITORY / "scaffold" / "web" / "pages"
TOOL = Path(sys.executable).with_name("scaffold")
SIZE = {"width": 1360, "height": 820}
LINE = "accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm)"
MINE = "accelerator.clip_grad_norm_(model.parameters(), 0.5)  # noisy labels"


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as driver:
        folder = Path(scratch)
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        take(browser, folder, (), "ema", "page_answer.png")
        subprocess.run([TOOL, "new", "digits", "--yes"], cwd=folder, check=True)
        script = folder / "digits" / "train.py"
        text = script.read_text()
        assert LINE in text
        script.write_text(text.replace(LINE, MINE))
        take(browser, folder, ("digits",), "clipping", "page_conflict.png")
        browser.close()


def take(browser: Any, folder: Path, project: tuple[str, ...], feature: str, name: str) -> None:
    """Turn a feature on or off, and take the picture once the costs of features are counted."""
    command = [TOOL, "web", "--no-open", *project]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as server:
        assert server.stdout
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(120_000)
        page.goto(server.stdout.readline().strip())
        page.locator(f'[data-key="features.{feature}.enabled"] input').first.click()
        page.locator(".conflict" if project else ".last b").wait_for()
        if project:
            page.get_by_role("button", name="Keep yours").click()
        row = page.locator(f'[data-key="features.{feature}.enabled"]')
        row.locator(".cost").wait_for()
        row.evaluate("row => row.scrollIntoView({block: 'center'})")
        page.wait_for_timeout(3000)
        page.mouse.move(0, 0)
        page.screenshot(path=PICTURES / name)
        with Image.open(PICTURES / name) as picture:
            # 256 colors are enough, in a third of the size
            picture.convert("RGB").quantize(dither=Image.Dither.NONE).save(PICTURES / name)
        page.close()
        server.terminate()


if __name__ == "__main__":
    main()
