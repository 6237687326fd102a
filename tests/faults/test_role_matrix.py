"""The role matrix once more, against two processes behind nginx on Postgres: the same table, cell by cell."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from annotation.people.sign_ins import csrf_token
from tests.app.cast import Cast, assemble
from tests.app.test_role_matrix import (
    test_every_route_answers_everybody_as_the_table_says,
    test_links_that_do_not_work_answer_with_the_same_bytes_whatever_is_wrong_with_them,
)
from tests.app.visiting import Site
from tests.browser.conftest import Server
from tests.machines.fleet import Fleet

__all__ = [
    "test_every_route_answers_everybody_as_the_table_says",
    "test_links_that_do_not_work_answer_with_the_same_bytes_whatever_is_wrong_with_them",
]
pytestmark = pytest.mark.nginx


class SiteOfMachines(Site):
    """One study as visitors of the proxy find it."""

    def __init__(self, study_id: int, fleet: Fleet) -> None:
        self.study_id, self.engine, self.origin = study_id, fleet.engine, fleet.address

    def visitor(self) -> Any:
        return httpx.Client(base_url=self.origin, follow_redirects=False, timeout=30)


@pytest.fixture(scope="module")
def cast(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Cast:
    return assemble(fleet.engine, tmp_path_factory.mktemp("cast"), lambda study: SiteOfMachines(study, fleet))


def test_a_sign_in_holds_and_ends_at_both_processes_at_once(cast: Cast, fleet: Fleet) -> None:
    cookie = cast.site.signed_in("Bea").cookies["calipers"]

    def posted(server: Server, path: str) -> int:
        headers = {"Cookie": f"calipers={cookie}", "Origin": fleet.address, "X-Calipers-Token": csrf_token(cookie)}
        return httpx.post(f"{server.address}{path}", json={}, headers=headers, timeout=30).status_code

    one, other = fleet.servers
    assert [posted(server, "/api/take") for server in (one, other)] == [200, 200]
    assert posted(one, "/api/logout") == 200
    assert [posted(server, "/api/take") for server in (one, other)] == [401, 401]
