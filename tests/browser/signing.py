"""A server that asks people to sign in, and those who do, at a real OpenID provider on this machine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import BrowserContext, Page

from grasp_core.engine.pools import workers
from grasp_core.model.settings import Settings, variable
from grasp_core.server.server import Server
from tests.results import make_result
from tests.serving import Served, free_port, serving

PEOPLE = {
    "ann": {"email": "ann@lab.example", "name": "Ann Analyst", "email_verified": True},
    "vera": {"email": "vera@lab.example", "name": "Vera Viewer", "email_verified": True},
    "root": {"email": "root@lab.example", "name": "Root", "email_verified": True},
    "una": {"email": "una@lab.example", "name": "Una Unsaid"},
    "eve": {"email": "eve@evil.example", "name": "Eve", "email_verified": True},
}
TITLE = "A run that is nobody else's business"


@dataclass(frozen=True)
class Site:
    served: Served
    run_id: str

    @property
    def result(self) -> str:
        return f"/results?run={self.run_id}"


@contextmanager
def signing_in(
    folder: Path,
    provider: str,
    base_path: str = "",
    fill: Callable[[Server], object] = lambda store: None,
    **changes: str,
) -> Iterator[Site]:
    """A server that asks people to sign in, with one run and what `fill` puts there."""
    store = Server(Settings(home=str(folder / "home"), data_dir=changes.get("data_dir", "")), workers.threads)
    run_id = store.runs.add(make_result(), title=TITLE, owner="somebody@lab.example").id
    store.service.start()
    fill(store)
    store.service.close()
    store.database.dispose()
    port = free_port()
    settings = {
        "public_url": f"http://localhost:{port}{base_path}",
        "oidc_metadata_url": f"{provider}/.well-known/openid-configuration",
        "oidc_client_id": "grasp",
        "oidc_client_secret": "the client's secret",
        "cookie_secret": "the secret that signs the cookies",
        "allowed_domains": "lab.example",
        "analysts": "ann@lab.example",
        "admins": "root@lab.example",
        **changes,
    }
    environment = {variable(name): value for name, value in settings.items()}
    with serving(folder, environment, host="localhost", port=port, base_path=base_path) as served:
        yield Site(served, run_id)


def visit(context: BrowserContext, site: Site, path: str) -> Page:
    page = context.new_page()
    page.goto(site.served.url + path)
    return page


def sign_in(page: Page, who: str) -> None:
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name=who, exact=True).click()
