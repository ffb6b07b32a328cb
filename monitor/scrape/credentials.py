"""What a request shows of who asks. No message here holds any of it."""

from base64 import b64encode
from pathlib import Path

from monitor.scrape.errors import Reason, ScrapeError
from monitor.scrape.options import ScrapeOptions


def authorization_header(options: ScrapeOptions) -> dict[str, str]:
    """
    Return the Authorization header, if any.

    Files are read anew, so that a rotated secret counts at once. Raises ScrapeError.
    """
    if options.basic_auth is not None:
        auth = options.basic_auth
        pair = f"{auth.username}:{_secret(auth.password, auth.password_file)}"
        return {"Authorization": "Basic " + b64encode(pair.encode()).decode()}
    if options.authorization is not None:
        bearer = options.authorization
        secret = _secret(bearer.credentials, bearer.credentials_file)
        if not secret.isascii() or not secret.isprintable():
            raise ScrapeError("the credentials hold characters that no header may have", reason=Reason.CREDENTIALS)
        return {"Authorization": f"{bearer.type} {secret}"}
    return {}


def _secret(text: str, path: str) -> str:
    if not path:
        return text
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as err:
        why = err.strerror if isinstance(err, OSError) else "not text"
        raise ScrapeError(f"cannot read credentials from {path}: {why}", reason=Reason.CREDENTIALS) from err
