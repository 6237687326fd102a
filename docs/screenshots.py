"""Every state of the screens as a picture: `python docs/screenshots.py [NAME ...] [--to FOLDER]`.

Without a name all of them, into docs/screenshots; with names, as of the files there, these alone.

Makes the demo study and two small ones on our own reports, serves them, and drives a real Chromium through each state.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, Page, Playwright, sync_playwright  # noqa: E402

from annotation.importing.reports.folder import read_folder  # noqa: E402
from annotation.importing.reports.write import import_reports  # noqa: E402
from annotation.offline.packets import reserve_packet  # noqa: E402
from annotation.people.principals import local_admin  # noqa: E402
from annotation.planning.slots import apply_plan, make_plan  # noqa: E402
from annotation.studies import init_study  # noqa: E402
from annotation.work.open_and_close import move_study  # noqa: E402
from app.component import packet_html  # noqa: E402
from app.demo.study import REPORTS, demo_links, make_demo  # noqa: E402
from db.connect import transaction  # noqa: E402
from db.tables import Study  # noqa: E402
from tests.browser.conftest import FLAGS, Server  # noqa: E402
from tests.conftest import chromium  # noqa: E402
from tests.pictured_study import ABROAD, SHOWN, write_abroad, write_pictured  # noqa: E402
from tests.small_study import BESIDE, BOTH, PROBES, PROTOCOL, a_person, add_probes, make_study  # noqa: E402
from tests.trained_study import make_trained_study  # noqa: E402

WIDE, MIDDLE, SMALL, NARROW = (1920, 1080), (1440, 757), (1024, 768), (760, 900)
TABLET, TELEPHONE = (820, 1100), (390, 844)
WIDTHS = (("", MIDDLE), ("-small", SMALL), ("-telephone", TELEPHONE))  # of a picture's name, and its size
EVALUATOR = (
    "agreement", "reliability", "bias", "ranking", "disagreements", "judges", "progress", "blinding", "paper",
    "planner", "disputes", "people", "crowd",
)  # fmt: skip
COMPARED = ("choice", "agreement", "planner", "progress")  # at every width; docs/screens.md has them of 1.0.0 beside
TALL = (1440, 2200)  # a page that is read from its sentence down to its warnings
CLAIMS = (
    "The first pneumatic bicycle tyre was made in 1888.",
    "A rider on a high-wheeler sat more than two metres above the road.",
)


class Camera:
    """Takes pictures into a folder, with few colours so that they stay small."""

    def __init__(self, browser: Browser, address: str, folder: Path, asked: Sequence[str]) -> None:
        self.browser, self.address, self.folder, self.asked = browser, address, folder, asked
        folder.mkdir(parents=True, exist_ok=True)

    def wants(self, *names: str) -> bool:
        """Whether one of these pictures is to be taken; "label-" stands for all that begin so."""
        every = not self.asked
        return every or any(
            one == name or (name.endswith("-") and one.startswith(name)) for one in self.asked for name in names
        )

    @contextmanager
    def page(self, link: str, size: tuple[int, int] = MIDDLE, scheme: str = "light") -> Iterator[Page]:
        """A new visitor who opens `link`."""
        context = self.browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        context.set_default_timeout(40_000)
        page = context.new_page()
        page.goto(link)
        yield page
        context.close()

    def take(self, page: Page, name: str, height: int | None = None) -> None:
        """Store what is on screen as `name`.png, where it is asked for; with `height` that much of the form alone."""
        if not self.wants(name):
            return
        page.wait_for_timeout(400)  # fonts and the last repaint
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        if height is not None:
            box = page.get_by_role("region", name="Criteria").bounding_box()
            assert box is not None
            picture = picture.crop((round(box["x"]), round(box["y"]), picture.width, round(box["y"]) + height))
        picture.quantize(128, dither=Image.Dither.NONE).save(self.folder / f"{name}.png", optimize=True)
        print(name, flush=True)


def ready(page: Page) -> None:
    """Wait until the annotator's page takes keys."""
    page.wait_for_selector(".calipers[data-ready='true']")


def answered(page: Page) -> None:
    """One choice with its reason, saved."""
    page.keyboard.press("1")
    page.keyboard.insert_text("Left takes up the question at once and says what its figures rest on.")
    page.locator(".save").filter(has_text="Saved").wait_for()


def annotator(camera: Camera, link: str) -> None:
    """The label page: its tools, its sheets, and what it says when something is wrong."""
    with camera.page(link) as page:
        ready(page)
        camera.take(page, "label")
        answered(page)
        camera.take(page, "label-answered")
        camera.take(page, "label-form", height=520)
        page.keyboard.press("Escape")
        for name, key in (("outline", "o"), ("help", "?"), ("flag", "f"), ("skip", "x")):
            page.keyboard.press(key)
            camera.take(page, f"label-{name}")
            page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.insert_text("wheel")
        camera.take(page, "label-find")
        page.keyboard.press("Escape")
        quoted = page.get_by_role("region", name="Left report").locator("p, li").nth(3)
        quoted.click(click_count=3)
        page.keyboard.press("q")
        camera.take(page, "label-quote")
        page.get_by_role("button", name="Submit").click()
        page.get_by_role("alert").filter(has_text="Not submitted").wait_for()
        camera.take(page, "label-refused")
        page.context.set_offline(True)
        page.get_by_role("button", name="Covers what matters:").click()
        page.get_by_role("radio", name="Right").click()
        page.get_by_text("1 unsaved").first.wait_for()
        camera.take(page, "label-offline")
        page.context.set_offline(False)
        page.locator(".save").filter(has_text="Saved").wait_for()
        page.goto(f"{camera.address}/my_work")
        page.get_by_role("heading", name="Your items").wait_for()
        camera.take(page, "my-work")
    sizes = {"label-wide": (WIDE, "light"), "label-small": (SMALL, "light"), "label-narrow": (NARROW, "light"),
             "label-dark": (MIDDLE, "dark")}  # fmt: skip
    for name, (size, scheme) in sizes.items():
        with camera.page(link, size, scheme) as page:
            ready(page)
            camera.take(page, name)


def handed_in(camera: Camera, link: str) -> None:
    """Everything submitted, an own past item, and the history of a changed answer."""
    with camera.page(link) as page:
        ready(page)
        for item in range(9):
            for _ in range(2):
                page.keyboard.press("1")
                page.keyboard.insert_text("it says so at once")
                page.keyboard.press("Control+Enter")
            if item < 8:
                page.get_by_text(f"Item {item + 2} of 9").wait_for()
                ready(page)
        page.locator(".calipers[data-phase='finished']").wait_for()
        camera.take(page, "finished")
        page.goto(f"{camera.address}/my_work")
        page.get_by_role("heading", name="Your items").wait_for()
        camera.take(page, "my-work-finished")
        page.get_by_role("link", name="Open").first.click()
        ready(page)
        camera.take(page, "past-item")


def other_tasks(camera: Camera, server: Server) -> None:
    """A rated report beside its reference, two rated in one view, and a claim to be checked."""
    rated = make_study(server.engine, REPORTS, protocol=BESIDE, name="rated")  # its handbook is the reference
    both = make_study(server.engine, REPORTS, protocol=BOTH, name="both")
    with transaction(server.engine) as session:
        probed = init_study(session, "probed", PROBES, 7)
        admin = local_admin(probed)
        import_reports(session, admin, read_folder(REPORTS), layout="folder", source="demo_reports")
        add_probes(session, probed, CLAIMS)
        apply_plan(session, admin, make_plan(session, admin, design="all", per_topic=None, overlap=1))
        move_study(session, probed, "open")
    for name, study in (("rating", rated), ("both", both), ("probe", probed.id)):
        with camera.page(server.link(study, "Ada")) as page:
            ready(page)
            page.keyboard.press("2")
            camera.take(page, name)


def figures(camera: Camera, server: Server, folder: Path) -> None:
    """Reports with figures, a wide table and long code, and each of them large."""
    study = make_study(server.engine, write_pictured(folder / "pictured"), protocol=SHOWN, name="pictured")
    for where, size, scheme in (("-dark", MIDDLE, "dark"), *((where, size, "light") for where, size in WIDTHS)):
        with camera.page(server.link(study, "Ada"), size, scheme) as page:
            ready(page)
            page.wait_for_function("[...document.querySelectorAll('.figure img')].every((one) => one.complete)")
            page.locator(".report > :first-child").first.scroll_into_view_if_needed()  # it opens where it was left
            page.wait_for_timeout(500)
            camera.take(page, f"figures{where}")
            if scheme == "dark":
                continue
            page.keyboard.press("z")
            camera.take(page, f"figure-large{where}")
            page.keyboard.press("Escape")
            page.locator(".report .displayed").first.evaluate("(one) => one.scrollIntoView()")
            page.locator(".report .scroller").first.evaluate("(one) => one.scrollTo(140, 0)")
            camera.take(page, f"figures-table{where}")
            page.locator(".enlarge").first.click()
            camera.take(page, f"table-large{where}")
            page.keyboard.press("Escape")
            page.locator(".report pre").first.scroll_into_view_if_needed()
            camera.take(page, f"figures-code{where}")


def abroad(camera: Camera, server: Server, folder: Path) -> None:
    """Captions, formulas and tables in Chinese, and from right to left."""
    for language in ABROAD:
        place = write_abroad(folder / f"abroad-{language}", language)
        study = make_study(server.engine, place, protocol=SHOWN, name=f"abroad-{language}")
        for where, size in WIDTHS:
            name = f"abroad-{language}{where}"
            with camera.page(server.link(study, "Ada"), size) as page:
                ready(page)
                page.wait_for_function("[...document.querySelectorAll('.figure img')].every((one) => one.complete)")
                camera.take(page, name)
                if size == TELEPHONE:
                    page.locator(".report math[display=block]").first.evaluate("one => one.scrollIntoView()")
                    camera.take(page, f"abroad-{language}-table")


def gates(camera: Camera, link: str) -> None:
    """What comes before the first item: instructions and consent, then training with its feedback."""
    with camera.page(link) as page:
        agree = page.get_by_role("button", name="I have read this and agree")
        agree.wait_for()
        camera.take(page, "consent")
        agree.click()
        ready(page)
        for _ in range(2):
            page.keyboard.press("1")
            page.keyboard.insert_text("it says so at once")
            page.keyboard.press("Control+Enter")
        page.get_by_role("dialog").wait_for()
        camera.take(page, "training-feedback")


def disputes(camera: Camera, link: str) -> None:
    """The adjudicator's page: both reports beside what the raters said."""
    with camera.page(link) as page:
        ready(page)
        camera.take(page, "adjudicating")


def packet(camera: Camera, server: Server, study: int, folder: Path) -> None:
    """Work taken home, opened from disk."""
    with transaction(server.engine) as session:
        a_person(session, study, "Zoe")
        made = reserve_packet(session, local_admin(session.get_one(Study, study)), "Zoe", 3)
    file = folder / "packet.html"
    file.write_text(packet_html(made), encoding="utf-8")
    with camera.page(file.as_uri()) as page:
        page.get_by_role("heading").first.wait_for()
        camera.take(page, "packet")


def owner(camera: Camera, link: str) -> None:
    """The pages of whoever runs the study, which hold the evaluator's."""
    one_by_one = {"choice": (MIDDLE, "light"), "choice-whole": (TALL, "light"), "choice-dark": (MIDDLE, "dark")}
    narrower = {f"{name}-{size[0]}": (size, "light") for name in COMPARED for size in (SMALL, TABLET, TELEPHONE)}
    for name, (size, scheme) in (one_by_one | narrower | dict.fromkeys(EVALUATOR, (MIDDLE, "light"))).items():
        if camera.wants(name):
            with camera.page(link, size, scheme) as page:
                at = name.partition("-")[0]
                reached(page, f"{camera.address}/{'' if at == 'choice' else at}")
                camera.take(page, name)


def setting_up(camera: Camera, server: Server) -> None:
    """The owner's first page of a study that has its reports and is not open yet."""
    with transaction(server.engine) as session:
        study = init_study(session, "mystudy", PROTOCOL, 7)
        import_reports(session, local_admin(study), read_folder(REPORTS), layout="folder", source="demo_reports")
        study_id = study.id
    with camera.page(server.link(study_id, "Olga", "admin")) as page:
        reached(page, camera.address)
        camera.take(page, "set-up")
        reached(page, f"{camera.address}/studies")
        page.locator("iframe").scroll_into_view_if_needed()
        camera.take(page, "protocol")


def reached(page: Page, address: str) -> None:
    """One of the evaluator's pages, and everything on it is drawn."""
    page.goto(address)
    page.get_by_test_id("stMain").wait_for()
    page.wait_for_timeout(1_000)  # the script begins after the page
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(timeout=180_000)
    page.locator('[data-testid$="Skeleton"]').first.wait_for(state="detached", timeout=180_000)
    page.wait_for_timeout(1_000)  # pictures are laid out


def main() -> int:
    """Take them all, or those that are named."""
    said = argparse.ArgumentParser(description="Pictures of the screens.")
    said.add_argument("names", nargs="*", help="as of the files in docs/screenshots; all where none is given")
    said.add_argument("--to", type=Path, default=ROOT / "docs" / "screenshots")
    asked = said.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        server = Server(Path(scratch))
        make_demo(server.engine)
        small = make_study(server.engine, Path(scratch) / "small", name="small")
        server.start()
        try:
            with sync_playwright() as playwright:
                photograph(server, playwright, small, asked.to, asked.names)
        finally:
            server.stop()
            server.engine.dispose()
    return 0


def photograph(server: Server, playwright: Playwright, small: int, target: Path, asked: Sequence[str]) -> None:
    """Every screen of every role; only the scenes that hold a picture asked for."""
    browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
    camera = Camera(browser, server.address, target, asked)
    links = {role: f"{server.address}/invite/{token}" for role, token in demo_links(server.engine).items()}
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        scenes: dict[tuple[str, ...], Callable[[], None]] = {
            ("label", "label-", "my-work"): lambda: annotator(camera, links["annotator"]),
            ("adjudicating",): lambda: disputes(camera, links["adjudicator"]),
            ("choice", "choice-", *EVALUATOR): lambda: owner(camera, links["admin"]),
            ("set-up", "protocol"): lambda: setting_up(camera, server),
            ("finished", "my-work-finished", "past-item"): lambda: handed_in(camera, server.link(small, "Ada")),
            ("consent", "training-feedback"): lambda: gates(
                camera, server.link(make_trained_study(server.engine, scratch, name="trained"), "Ada")
            ),
            ("packet",): lambda: packet(camera, server, make_study(server.engine, REPORTS, name="at-home"), scratch),
            ("figures", "figures-", "figure-", "table-"): lambda: figures(camera, server, scratch),
            ("abroad-",): lambda: abroad(camera, server, scratch),
            ("rating", "both", "probe"): lambda: other_tasks(camera, server),
            ("signed-out", "bad-link"): lambda: doors(camera),
        }
        for names, scene in scenes.items():
            if camera.wants(*names):
                scene()
    browser.close()


def doors(camera: Camera) -> None:
    """For whoever is not signed in."""
    for name, link in {"signed-out": camera.address, "bad-link": f"{camera.address}/invite/unknown"}.items():
        with camera.page(link) as page:
            page.get_by_role("heading").first.wait_for()
            camera.take(page, name)


if __name__ == "__main__":
    sys.exit(main())
