"""docs/_static/report.png: parts of the page that `closedform report iiwa14` writes.

    python tools/report_picture.py [PAGE]       of a page that is there, else of a new one
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from closedform.applications.report.report import report  # noqa: E402
from studio_chromium import chromium  # noqa: E402

TARGET = ROOT / "docs" / "_static" / "report.png"
COLUMNS = (("header", "#live", "#robot"), ("#certificates", "#derivatives"))
"""What stands in each column, by selectors."""
WIDTH, HEIGHT, COLOURS = 700, 1500, 200


def column(driver, selectors):
    """The elements one below the other, cut at the height."""
    made, at = Image.new("RGB", (WIDTH, HEIGHT), "white"), 0
    for css in selectors:
        found = driver.find_elements("css selector", css)
        if found and at < HEIGHT:
            picture = Image.open(io.BytesIO(found[0].screenshot_as_png)).convert("RGB")
            made.paste(picture, (0, at))
            at += picture.height
    return made


def main():
    with tempfile.TemporaryDirectory() as folder:
        page = Path(sys.argv[1]) if sys.argv[1:] else report("iiwa14").write(
            Path(folder) / "report.html")
        driver = chromium(Path(folder) / "profile", WIDTH, 2 * HEIGHT)
        driver.get(page.resolve().as_uri())
        driver.execute_script("document.querySelectorAll('nav').forEach(x => x.remove())")
        whole = Image.new("RGB", (2 * WIDTH, HEIGHT), "white")
        for k, selectors in enumerate(COLUMNS):
            whole.paste(column(driver, selectors), (k * WIDTH, 0))
        driver.quit()
    whole.quantize(COLOURS, kmeans=2).save(TARGET, optimize=True)
    print(TARGET)


if __name__ == "__main__":
    main()
