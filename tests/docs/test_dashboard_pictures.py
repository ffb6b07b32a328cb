"""The pictures of the dashboards: one of each, small, and shown."""

from docs.pictures.gallery import IMAGES
from docs.pictures.png import size
from monitor.shipped import shipped_dashboards

README = IMAGES.parent.parent / "README.md"
NAMES = sorted(f"dashboard-{path.stem.removeprefix('vllm-')}" for path in shipped_dashboards())
PHONE = "dashboard-overview-phone"


def test_every_dashboard_has_a_picture() -> None:
    assert sorted(path.stem for path in IMAGES.glob("dashboard-*.png")) == sorted([*NAMES, PHONE])


def test_every_picture_is_small_and_stands_in_the_docs() -> None:
    docs = (IMAGES.parent / "dashboards.md").read_text(encoding="utf-8")
    for name in (*NAMES, PHONE):
        picture = (IMAGES / f"{name}.png").read_bytes()
        assert len(picture) < 300_000, name
        assert size(picture)[0] == (1280 if name != PHONE else 750), name
        assert f"images/{name}.png" in docs, name
    assert "images/dashboard-overview.png" in README.read_text(encoding="utf-8")
