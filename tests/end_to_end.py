"""The whole road on a real Wiki Live Challenge tree, by the commands a user types.

    python tests/end_to_end.py FOLDER [--out OUT]

Imports FOLDER, makes 12 pairs, invites 3 annotators, labels one pair x 39 criteria through a real Chromium, fills the
rest through the service functions with simulated answers, runs a judge against the fake provider, calibrates, and
writes the LaTeX table; a PDF is made of it where a TeX is installed (apt-get install texlive-latex-extra).
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import expect, sync_playwright  # noqa: E402
from sqlalchemy import func, select  # noqa: E402

from annotation.labelling import save, submit  # noqa: E402
from annotation.people.principals import Principal  # noqa: E402
from annotation.work.claiming import take  # noqa: E402
from annotation.work.page import assignment_page  # noqa: E402
from db.connect import reading, transaction  # noqa: E402
from db.people_tables import Enrollment, Rater  # noqa: E402
from db.tables import Assignment, Item, Label, Report, System  # noqa: E402
from tests.browser.conftest import FLAGS, Server  # noqa: E402
from tests.browser.driving import THIRTY_NINE  # noqa: E402
from tests.conftest import chromium  # noqa: E402
from tests.small_study import answer  # noqa: E402

STUDY = "wlc"
PEOPLE = ("Ada", "Bea", "Cem")
DOCUMENT = r"""\documentclass[a4paper,landscape]{article}
\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{booktabs,siunitx,adjustbox}
\usepackage[margin=1.5cm]{geometry}\begin{document}\pagestyle{empty}
\input{agreement.tex}
\end{document}
"""


def calipers(server: Server, *words: str) -> str:
    """One command, as typed; its output is shown and returned."""
    print(f"\n$ calipers {' '.join(words)}", flush=True)
    environment = os.environ | {"CALIPERS_DATABASE_URL": server.url, "CALIPERS_BASE_URL": server.address}
    done = subprocess.run(
        [sys.executable, "-m", "app.command_line", *words], env=environment, cwd=ROOT, text=True, capture_output=True,
        check=False,
    )  # fmt: skip
    print(done.stdout + done.stderr, flush=True)
    assert done.returncode == 0, f"exit {done.returncode}"
    return done.stdout


def label_in_the_browser(server: Server, link: str, out: Path) -> None:
    """39 criteria by keyboard alone, with a reload in the middle."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1440, "height": 757})
        page.goto(link)
        page.get_by_role("radio", name="Left").wait_for()
        draw = random.Random(1)
        for number in range(39):
            page.keyboard.press(draw.choice("12"))
            page.keyboard.insert_text(f"reason {number + 1}: the text says it more plainly")
            if number == 20:
                page.screenshot(path=out / "labelling.png")
                page.reload()
                page.get_by_role("radio", name="Left").wait_for()
                expect(page.get_by_role("textbox").first).to_have_value(
                    f"reason {number + 1}: the text says it more plainly"
                )
                page.get_by_role("textbox").first.click()
            page.keyboard.press("Control+Enter")
        expect(page.get_by_text("Item 2 of 12")).to_be_visible(timeout=20_000)
        page.screenshot(path=out / "next_item.png")
        browser.close()


def fill_the_rest(server: Server) -> int:
    """Everybody else's work through the service functions: the human article wins where a coin of .75 says so."""
    submitted = 0
    with reading(server.engine) as session:
        people = session.execute(
            select(Enrollment, Rater.opaque_id)
            .join(Rater, Rater.id == Enrollment.rater_id)
            .where(Enrollment.role == "annotator")
        ).all()
    for person, opaque_id in people:
        principal = Principal(person.study_id, person.role, person.rater_id, person.id, opaque_id)
        while True:
            with transaction(server.engine) as session:
                assignment = take(session, principal)
                if assignment is None:
                    break
                page = assignment_page(session, principal, assignment.aid)
                better = "left" if reference_side(session, assignment) == "left" else "right"
                worse = "right" if better == "left" else "left"
                draw, shared = random.Random(f"{person.id}-{assignment.item_id}"), random.Random(assignment.item_id)
                entries, revs = [], {}
                for criterion in page["criteria"]:
                    truth = better if shared.random() < 0.75 else worse
                    choice = truth if draw.random() < 0.85 else draw.choice((better, worse, "not_applicable"))
                    entries.append(answer(page, criterion["id"], choice, rationale="a simulated reason"))
                saved = save(session, principal, entries)
                revs = {entry.criterion: ack["rev"] for entry, ack in zip(entries, saved.acks, strict=True)}
                submit(session, principal, assignment.aid, page["page"], f"{assignment.aid}-submit", revs)
                submitted += 1
    return submitted


def reference_side(session: Any, assignment: Assignment) -> str:
    item = session.get_one(Item, assignment.item_id)
    is_reference = session.scalar(
        select(System.is_reference).join(Report, Report.system_id == System.id).where(Report.id == item.report_a_id)
    )
    return "left" if is_reference == (assignment.left == "A") else "right"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    out = (asked.out or Path(tempfile.mkdtemp(prefix="calipers-"))).resolve()
    out.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="calipers-"))
    server = Server(work)
    server.start()
    fake = subprocess.Popen(
        [sys.executable, str(ROOT / "tests" / "fake_llm.py"), "--port", "0", "--latency-ms", "30"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert fake.stdout is not None
        api_base = fake.stdout.readline().split()[1]
        protocol = work / "wlc_writing_39.toml"
        protocol.write_text(THIRTY_NINE, encoding="utf-8")
        calipers(server, "init", STUDY, "--protocol", str(protocol), "--seed", "7")
        calipers(server, "import", "reports", str(asked.folder.resolve()), "--layout", "wlc", "--study", STUDY)
        calipers(server, "pairs", STUDY, "--per-topic", "1", "--overlap", str(len(PEOPLE)), "--apply")
        calipers(server, "audit", STUDY, "--resolve", "keep", "--reason", "a rehearsal: nothing is published")
        calipers(server, "open", STUDY)
        links = [calipers(server, "invite", STUDY, name).strip() for name in PEOPLE]
        label_in_the_browser(server, links[0], out)
        with reading(server.engine) as session:
            by_hand = session.scalar(
                select(func.count(Label.criterion_id.distinct())).where(Label.renderer_version.is_not(None))
            )
            assert by_hand == 39, by_hand
        print(f"39 labels came through the browser; {fill_the_rest(server)} assignments filled through the services")
        judges = work / "judges.toml"
        judges.write_text(
            f'[[judge]]\nname = "fake-judge"\nmodel = "openai/fake-acc-0.85"\napi_base = "{api_base}"\n'
            "price = {input = 0.15, output = 0.60}\nmax_cost = 5.0\nconcurrency = 8\n",
            encoding="utf-8",
        )
        calipers(server, "judge", "estimate", STUDY, "--judges", str(judges))
        calipers(server, "judge", "run", STUDY, "--judges", str(judges))
        calipers(server, "status", STUDY)
        calipers(server, "calibrate", STUDY, "--out", str(out))
    finally:
        fake.terminate()
        fake.wait(timeout=10)
        server.stop()
        server.engine.dispose()
        shutil.rmtree(work)
    (out / "paper.tex").write_text(DOCUMENT, encoding="utf-8")
    if shutil.which("pdflatex"):
        subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
            cwd=out,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        print(f"read it: {out / 'paper.pdf'}")
    else:
        print(
            "no pdflatex here: apt-get install texlive-latex-extra texlive-science, then run pdflatex on paper.tex in",
            out,
        )


if __name__ == "__main__":
    main()
