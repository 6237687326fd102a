"""The app's own routes over a small study, and visitors with and without a cookie."""

from __future__ import annotations

import json
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotation.people.links import invite
from annotation.people.principals import local_admin
from annotation.people.sign_ins import csrf_token
from app.server.routes import exception_handlers, middleware, routes
from app.settings import database
from db.connect import transaction
from db.tables import Study

ORIGIN = "http://testserver"


class Site:
    """One study on this process's database."""

    origin = ORIGIN

    def __init__(self, study_id: int) -> None:
        self.study_id, self.engine = study_id, database()
        self.app = Starlette(routes=routes, middleware=middleware, exception_handlers=exception_handlers)

    def token(self, name: str = "Ada", role: str = "annotator") -> str:
        with transaction(self.engine) as session:
            return invite(session, local_admin(session.get_one(Study, self.study_id)), name, role)

    def visitor(self) -> TestClient:
        return TestClient(self.app, follow_redirects=False, raise_server_exceptions=False)

    def signed_in(self, name: str = "Ada", role: str = "annotator") -> TestClient:
        client = self.visitor()
        assert client.get(f"/invite/{self.token(name, role)}").status_code == 303
        return client


def post(client: TestClient, path: str, body: Any, **headers: str) -> Any:
    """A POST as the app's own page sends it; `headers` replace its own."""
    cookie, origin = client.cookies.get("calipers") or "", str(client.base_url).rstrip("/")
    return client.post(
        path, content=body if isinstance(body, bytes) else json.dumps(body),
        headers={"Origin": origin, "Content-Type": "application/json", "X-Calipers-Token": csrf_token(cookie)} | headers,
    )  # fmt: skip


def first_page(client: TestClient) -> dict[str, Any]:
    """The item this person is given, as their page fetches it."""
    aid = post(client, "/api/take", {}).json()["next"]
    page: dict[str, Any] = client.get(f"/api/assignment/{aid}").json()
    return page
