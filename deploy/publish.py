"""`python -m deploy.publish --source URL --image NAME`: says in every file that names them where both are published."""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

PUBLISHED = Path("deploy") / "published.yaml"


def published(root: Path) -> dict[str, str]:
    """Return the names as they are now: `source` and `image`."""
    names: dict[str, str] = yaml.safe_load((root / PUBLISHED).read_text())
    return names


def rename(root: Path, new: Mapping[str, str]) -> list[Path]:
    """Write the new names over those of now in every file that git knows; returns those that have changed."""
    old = published(root)
    done = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)  # noqa: S607 - git is the user's
    changed = []
    for path in (root / name for name in done.stdout.split("\0") if name):
        if path.is_symlink() or not path.is_file():
            continue
        before = path.read_bytes()
        after = before
        for key, name in new.items():
            after = after.replace(old[key].encode(), name.encode())
        if after != before:
            path.write_bytes(after)
            changed.append(path)
    return changed


def main(argv: Sequence[str] | None = None) -> int:
    """Rename and name the files."""
    parser = argparse.ArgumentParser(prog="python -m deploy.publish", description=__doc__)
    parser.add_argument("--source", help="URL of the repository")
    parser.add_argument("--image", help="name of the image, without a tag")
    options = parser.parse_args(argv)
    new = {key: value.rstrip("/") for key, value in vars(options).items() if value}
    for path in rename(Path.cwd(), new):
        print(path.relative_to(Path.cwd()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
