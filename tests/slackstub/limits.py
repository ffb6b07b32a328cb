"""
The sizes that Slack refuses to exceed.

reference: Slack's Block Kit documentation; the total of all texts is not documented and was seen to be refused
between 9,600 and 11,300 characters.
"""

BLOCKS = 50
ATTACHMENTS = 100
TOTAL_TEXT = 9_600
TOTAL_JSON = 16_000
TEXT = 40_000
UPDATE_TEXT = 4_000
HEADER_TEXT = 150
SECTION_TEXT = 3_000
SECTION_FIELDS = 10
FIELD_TEXT = 2_000
CONTEXT_ELEMENTS = 10
ACTIONS_ELEMENTS = 25
BUTTON_TEXT = 75
BUTTON_VALUE = 2_000
URL = 3_000
ACCESSIBILITY_LABEL = 75
ALT_TEXT = 2_000
IMAGE_TITLE = 2_000
FILE_ALT = 1_000
CONFIRM = {"title": 100, "text": 300, "confirm": 30, "deny": 30}
ID = 255
METADATA_BYTES = 8_000

# The fields each element may have; Slack refuses a field it does not know.
FIELDS: dict[str, frozenset[str]] = {
    "header": frozenset(("text", "level")),
    "section": frozenset(("text", "fields", "accessory", "expand")),
    "context": frozenset(("elements",)),
    "divider": frozenset(),
    "actions": frozenset(("elements",)),
    "image": frozenset(("image_url", "slack_file", "alt_text", "title")),
    "button": frozenset(("text", "url", "value", "action_id", "style", "confirm", "accessibility_label")),
    "plain_text": frozenset(("text", "emoji")),
    "mrkdwn": frozenset(("text", "verbatim")),
}
