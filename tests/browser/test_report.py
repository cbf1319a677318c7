"""The page of a run in a real browser: it needs nothing, says nothing to the console, and can be read on a phone, at night and
on paper. Screenshots stay in the folder that FORETRAIN_SCREENSHOTS names."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from chromium import PROGRAM, Chromium

FORETRAIN = os.environ.get("FORETRAIN", "foretrain")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MEASURED = f"{ROOT}/bench/accuracy/measured"
PHONE, DESK = 360, 1100
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>]]>&#0;\u0007"

# Rightmost edge of all that does not scroll by itself, of those that reach beyond the page.
OVERFLOW = """(() => [...document.querySelectorAll('main *')].filter(e => !e.closest('.wide,pre') &&
    e.getBoundingClientRect().right > WIDTH + 1).map(e => e.outerHTML.slice(0, 80)))()"""

# Texts of a picture that lie over each other.
COLLISIONS = """(() => [...document.querySelectorAll('figure > svg')].flatMap(svg => {
    const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    return texts.flatMap(([a, r], i) => texts.slice(i + 1).filter(([b, s]) => r.left < s.right - 1 && s.left < r.right - 1 &&
        r.top < s.bottom - 3 && s.top < r.bottom - 3).map(([b]) => svg.getAttribute('aria-label') + ': ' + a + ' / ' + b));
}))()"""

# The smallest contrast of text against the page, by WCAG.
CONTRAST = """(() => {
    const light = c => { const v = c.match(/[0-9.]+/g).slice(0, 3).map(x => x / 255)
            .map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const page = light(getComputedStyle(document.body).backgroundColor);
    const words = [...document.querySelectorAll('h1,h2,p,td,th,dt,dd,li,caption,summary')];
    return Math.min(...words.map(e => ratio(light(getComputedStyle(e).color), page)));
})()"""

BACKGROUND = "getComputedStyle(document.body).backgroundColor"


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.browser = Chromium().__enter__()
        cls.reports = [cls.report(name) for name in ("three-types", "interleaved", "one-bucket")]
        cls.reports += [cls.worked_case(), cls.twelve(), cls.hostile()]

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        shutil.rmtree(cls.folder)

    @classmethod
    def make(cls, *args):
        subprocess.run([FORETRAIN, "report", "--quiet", *args], check=True, cwd=cls.folder)

    @classmethod
    def copy(cls, name, copy):
        """A measured run, with its truth as `foretrain validate` leaves it."""
        shutil.copytree(f"{MEASURED}/{name}", f"{cls.folder}/{copy}")
        os.mkdir(f"{cls.folder}/{copy}/validate")
        with open(f"{cls.folder}/{copy}/truth.json", encoding="utf-8") as truth:
            with open(f"{cls.folder}/{copy}/validate/validation.json", "w", encoding="utf-8") as file:
                json.dump(json.load(truth)["validation"], file)

    @classmethod
    def report(cls, name):
        cls.copy(name, name)
        cls.make(name)
        return f"{cls.folder}/{name}/report.html"

    @classmethod
    def worked_case(cls):
        cls.make("-o", "worked.html", f"{ROOT}/examples/resnet50-200/job.yaml")
        return f"{cls.folder}/worked.html"

    @classmethod
    def twelve(cls):
        """Classes of links for measured profiles, and an all-reduce that is no ring."""
        with open(f"{cls.folder}/twelve.yaml", "w", encoding="utf-8") as file:
            file.write("data: {samples: 100000}\ntraining: {collective: tree, iterations: [10, 40]}\ndevices:\n")
            for name, batch in (("a", 16), ("b", 16), ("c", 8)):
                file.write(f"  {name}: {{count: 4, batch: {batch}, profile: {MEASURED}/three-types/profiles/{name}.json}}\n")
            file.write("network: {links: [" + ", ".join(f"{{between: [{x}, {y}], bandwidth: {rate} Mbit/s}}" for x, y, rate in (
                ("a", "a", 1000), ("b", "b", 1000), ("c", "c", 900), ("a", "b", 500), ("b", "c", 400), ("a", "c", 300))) + "]}\n")
        cls.make("-o", "twelve.html", "twelve.yaml")
        return f"{cls.folder}/twelve.html"

    @classmethod
    def hostile(cls):
        """What files of others may say: names, dates, layers, and what was measured where."""
        cls.copy("asymmetric", "hostile")
        for name in ("a", "b"):
            path = f"{cls.folder}/hostile/profiles/{name}.json"
            with open(path, encoding="utf-8") as file:
                profile = json.load(file)
            profile.update(device=HOSTILE, framework=HOSTILE, date=HOSTILE * 50, backend=HOSTILE)
            profile["model"].update(loss=HOSTILE, optimizer="x" * 5000)
            profile["model"]["layers"][0].update(name=HOSTILE, kind="y" * 5000, activation=HOSTILE)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(profile, file)
        cls.make("hostile")
        return f"{cls.folder}/hostile/report.html"

    def each(self, width, **how):
        for path in self.reports:
            page = self.browser.open(path, width, **how)
            yield os.path.relpath(path, self.folder).replace("/", "-")[:-5], page
            page.close()

    def keep(self, page, name):
        folder = os.environ.get("FORETRAIN_SCREENSHOTS")
        if folder:
            page.screenshot(f"{folder}/{name}.png")

    def test_it_loads_nothing_and_says_nothing(self):
        for name, page in self.each(DESK):
            with self.subTest(name):
                self.assertEqual(page.said(), [])
                self.assertEqual([url for url in page.requests() if not url.startswith("data:")],
                                 [page.evaluate("location.href")])
                self.assertEqual(page.evaluate("document.scripts.length"), 0)
                self.assertEqual(page.evaluate("document.images.length"), 0)

    def test_it_fits_a_phone_and_a_desk(self):
        for width in (PHONE, DESK):
            for name, page in self.each(width):
                with self.subTest(name):
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                    self.assertEqual(page.evaluate(OVERFLOW.replace("WIDTH", str(width))), [])
                    self.keep(page, f"{name}-{width}")

    def test_letters_keep_their_size_and_place(self):
        smallest = "Math.min(...[...document.querySelectorAll('svg text')].map(t => parseFloat(getComputedStyle(t).fontSize)))"
        for width in (PHONE, DESK):
            for name, page in self.each(width):
                with self.subTest(name):
                    self.assertGreaterEqual(page.evaluate(smallest), 11)
                    self.assertEqual(page.evaluate(COLLISIONS), [])

    def test_it_can_be_read_by_day_and_by_night(self):
        for dark in (False, True):
            for name, page in self.each(DESK, dark=dark):
                with self.subTest(name):
                    channels = [int(x) for x in page.evaluate(BACKGROUND)[4:-1].split(",")]
                    self.assertTrue(max(channels) < 64 if dark else min(channels) > 240, channels)
                    self.assertGreater(page.evaluate(CONTRAST), 4.5)
                    self.keep(page, f"{name}-{'dark' if dark else 'light'}")

    def test_paper_is_white(self):
        for name, page in self.each(DESK, dark=True, media="print"):
            with self.subTest(name):
                self.assertEqual(page.evaluate(BACKGROUND), "rgb(255, 255, 255)")
                pdf = page.pdf()
                self.assertTrue(pdf.startswith(b"%PDF"))
                self.assertGreater(pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page "), 1)

    def test_pictures_are_named_and_have_numbers_that_can_be_selected(self):
        for name, page in self.each(DESK):
            with self.subTest(name):
                self.assertGreaterEqual(page.evaluate("document.querySelectorAll('figure > svg[role=img]').length"), 3)
                self.assertEqual(page.evaluate("document.querySelectorAll('figure > svg:not([aria-label])').length"), 0)
                self.assertEqual(page.evaluate("[...document.querySelectorAll('svg text')].filter(t => "
                                               "getComputedStyle(t).userSelect === 'none').length"), 0)

    def test_the_same_run_gives_the_same_bytes(self):
        for name in ("three-types", "hostile"):
            path = f"{self.folder}/{name}/report.html"
            with open(path, "rb") as file:
                before = file.read()
            self.make(name)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), before)


if __name__ == "__main__":
    if not PROGRAM:
        print("skipped: there is no chromium here")
        sys.exit(77)
    unittest.main()
