"""Says what Slack would say about the blocks of a message."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.slackstub import limits

Problems = Iterator["Problem"]
_FILE = re.compile(r"F[A-Z0-9]{8,}")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and the JSON pointer to it."""

    message: str
    pointer: str

    def __str__(self) -> str:
        return f"{self.message} [json-pointer:{self.pointer}]"


def problems(payload: dict[str, Any]) -> list[Problem]:
    """Return everything that is wrong with `blocks` and with the blocks of `attachments`."""
    found = list(_list(payload.get("blocks") or [], "/blocks"))
    for number, attachment in enumerate(payload.get("attachments") or []):
        found += _list(attachment.get("blocks") or [], f"/attachments/{number}/blocks")
    return found


def too_large(payload: dict[str, Any]) -> bool:
    """Say whether all texts together, or all blocks, are more than Slack takes."""
    content = [payload.get("blocks") or [], payload.get("attachments") or []]
    return sum(map(len, texts(content))) > limits.TOTAL_TEXT or len(json.dumps(content)) > limits.TOTAL_JSON


def files_of(content: Any) -> Iterator[str]:
    """Yield the files that blocks show."""
    if isinstance(content, dict):
        if "slack_file" in content:
            yield file_of(content) or ""
        for value in content.values():
            yield from files_of(value)
    elif isinstance(content, list):
        for value in content:
            yield from files_of(value)


def file_of(block: dict[str, Any]) -> str | None:
    """Return the id of the file that an image block shows, None where it names none."""
    shown = block["slack_file"]
    return shown["id"] if isinstance(shown, dict) and isinstance(shown.get("id"), str) else None


def texts(content: Any) -> Iterator[str]:
    """Yield every text of blocks, text objects and attachments."""
    if isinstance(content, dict):
        for key, value in content.items():
            if isinstance(value, str) and key in ("text", "fallback", "pretext", "title", "footer", "alt_text"):
                yield value
            else:
                yield from texts(value)
    elif isinstance(content, list):
        for value in content:
            yield from texts(value)


def _list(blocks: Any, at: str) -> Problems:
    if not isinstance(blocks, list):
        yield Problem("must be an array", at)
        return
    if len(blocks) > limits.BLOCKS:
        yield Problem(f"no more than {limits.BLOCKS} items allowed", at)
    seen: set[str] = set()
    for number, block in enumerate(blocks):
        pointer = f"{at}/{number}"
        yield from _element(block, pointer, _BLOCKS)
        identity = block.get("block_id") if isinstance(block, dict) else None
        if identity in seen:
            yield Problem("block_id must be unique", f"{pointer}/block_id")
        if identity is not None:
            seen.add(identity)


def _element(element: Any, at: str, known: dict[str, Callable[[dict[str, Any], str], Problems]]) -> Problems:
    kind = element.get("type") if isinstance(element, dict) else None
    if kind not in known:
        yield Problem(f"unsupported type: {kind}", f"{at}/type")
        return
    for name in element.keys() - limits.FIELDS[kind] - {"type", "block_id"}:
        yield Problem("no additional properties allowed", f"{at}/{name}")
    yield from _size(element.get("block_id", ""), f"{at}/block_id", limits.ID, least=0)
    yield from known[kind](element, at)


def _header(block: dict[str, Any], at: str) -> Problems:
    yield from _text(block.get("text"), f"{at}/text", limits.HEADER_TEXT, ("plain_text",))


def _section(block: dict[str, Any], at: str) -> Problems:
    if "text" not in block and not block.get("fields"):
        yield Problem("missing required field: text", at)
    if "text" in block:
        yield from _text(block["text"], f"{at}/text", limits.SECTION_TEXT)
    fields = block.get("fields", [])
    yield from _count(fields, f"{at}/fields", limits.SECTION_FIELDS, least=0)
    for number, field in enumerate(fields):
        yield from _text(field, f"{at}/fields/{number}", limits.FIELD_TEXT)
    if "accessory" in block:
        yield from _element(block["accessory"], f"{at}/accessory", _ELEMENTS)


def _context(block: dict[str, Any], at: str) -> Problems:
    elements = block.get("elements", [])
    yield from _count(elements, f"{at}/elements", limits.CONTEXT_ELEMENTS)
    for number, element in enumerate(elements):
        pointer = f"{at}/elements/{number}"
        if isinstance(element, dict) and element.get("type") == "image":
            yield from _element(element, pointer, _BLOCKS)
        else:
            yield from _text(element, pointer, limits.SECTION_TEXT)


def _actions(block: dict[str, Any], at: str) -> Problems:
    elements = block.get("elements", [])
    yield from _count(elements, f"{at}/elements", limits.ACTIONS_ELEMENTS)
    seen: set[str] = set()
    for number, element in enumerate(elements):
        pointer = f"{at}/elements/{number}"
        yield from _element(element, pointer, _ELEMENTS)
        identity = element.get("action_id") if isinstance(element, dict) else None
        if identity in seen:
            yield Problem("action_id must be unique", f"{pointer}/action_id")
        if identity is not None:
            seen.add(identity)


def _image(block: dict[str, Any], at: str) -> Problems:
    yield from _size(block.get("alt_text", ""), f"{at}/alt_text", limits.ALT_TEXT)
    if ("image_url" in block) == ("slack_file" in block):
        yield Problem("must have either image_url or slack_file", at)
    yield from _url(block, "image_url", at)
    if "slack_file" in block and not _FILE.fullmatch(file_of(block) or ""):
        yield Problem("invalid slack file", f"{at}/slack_file")
    if "title" in block:
        yield from _text(block["title"], f"{at}/title", limits.IMAGE_TITLE, ("plain_text",))


def _button(element: dict[str, Any], at: str) -> Problems:
    yield from _text(element.get("text"), f"{at}/text", limits.BUTTON_TEXT, ("plain_text",))
    yield from _size(element.get("value", ""), f"{at}/value", limits.BUTTON_VALUE, least=0)
    yield from _size(element.get("action_id", ""), f"{at}/action_id", limits.ID, least=0)
    yield from _url(element, "url", at)
    yield from _size(element.get("accessibility_label", ""), f"{at}/accessibility_label", limits.ACCESSIBILITY_LABEL, 0)
    if "confirm" in element:
        yield from _confirm(element["confirm"], f"{at}/confirm")
    if element.get("style", "primary") not in ("primary", "danger"):
        yield Problem("must be a valid enum value", f"{at}/style")


def _confirm(dialog: Any, at: str) -> Problems:
    if not isinstance(dialog, dict) or not dialog.keys() >= limits.CONFIRM.keys():
        yield Problem("must be a valid confirm object", at)
        return
    for name, longest in limits.CONFIRM.items():
        yield from _text(dialog[name], f"{at}/{name}", longest)


def _divider(_: dict[str, Any], __: str) -> Problems:
    yield from ()


def _url(element: dict[str, Any], name: str, at: str) -> Problems:
    if name in element:
        yield from _size(element[name], f"{at}/{name}", limits.URL)
        if not str(element[name]).startswith(("http://", "https://")):
            yield Problem("must be a valid URL", f"{at}/{name}")


def _text(text: Any, at: str, longest: int, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")) -> Problems:
    if not isinstance(text, dict) or text.get("type") not in kinds:
        yield Problem("must be a valid text object", at)
        return
    for name in text.keys() - limits.FIELDS[text["type"]] - {"type"}:
        yield Problem("no additional properties allowed", f"{at}/{name}")
    yield from _size(text.get("text"), f"{at}/text", longest)


def _size(text: Any, at: str, longest: int, least: int = 1) -> Problems:
    if not isinstance(text, str):
        yield Problem("must be a string", at)
    elif len(text) < least:
        yield Problem(f"must be more than {least - 1} characters", at)
    elif len(text) > longest:
        yield Problem(f"must be less than {longest + 1} characters", at)


def _count(items: Any, at: str, most: int, least: int = 1) -> Problems:
    if not isinstance(items, list) or not least <= len(items) <= most:
        yield Problem(f"must be an array of {least} to {most} items", at)


_BLOCKS: dict[str, Callable[[dict[str, Any], str], Problems]] = {
    "header": _header,
    "section": _section,
    "context": _context,
    "actions": _actions,
    "image": _image,
    "divider": _divider,
}
_ELEMENTS: dict[str, Callable[[dict[str, Any], str], Problems]] = {"button": _button, "image": _image}
