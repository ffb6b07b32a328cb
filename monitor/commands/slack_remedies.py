"""Slack's words for what is wrong, in words for whoever has to mend it."""

from monitor.dispatch.notification import NotifyError
from monitor.notify.failure import Reason

_INSTALL = (
    "on api.slack.com/apps open the app, OAuth & Permissions, Reinstall to Workspace, and copy the Bot User OAuth Token"
)
_REMEDIES = {
    "not_authed": "the token is empty: look at bot_token, or the file that bot_token_file names",
    "invalid_auth": f"this is not a token of Slack: {_INSTALL}",
    "account_inactive": f"the bot was removed from the workspace: {_INSTALL}",
    "token_revoked": f"the token was revoked: {_INSTALL}",
    "token_expired": f"the token has expired: {_INSTALL}",
    "not_allowed_token_type": "this is a token of another kind; a bot's begins with xoxb- (xapp- is for the buttons)",
    "missing_scope": "the app lacks a permission: add it under OAuth & Permissions, Bot Token Scopes, and reinstall it",
    "channel_not_found": (
        "there is no such channel, or it is private and the bot is not in it: write /invite and the bot's name there,"
        " and take the ID (C…) from the end of the channel's details"
    ),
    "not_in_channel": "the bot is not in the channel: write /invite and the bot's name there",
    "is_archived": "the channel is archived: unarchive it, or name another one",
    "restricted_action": "the workspace does not let the bot post there: ask its owner (channel posting permissions)",
    "cant_delete_message": "the workspace does not let the bot delete messages: delete the test message by hand",
    "cant_update_message": "the workspace does not let the bot edit its messages: then every change is a new message",
    "edit_window_closed": "the workspace lets messages be edited for a short time only: then changes are new messages",
    "ratelimited": "Slack asks for fewer requests: wait a minute and try again",
    "no_service": "this webhook is gone: make a new one under Incoming Webhooks of the app",
    "no_team": "this webhook's workspace is gone: make a new one under Incoming Webhooks of the app",
    "invalid_token": "this is not the URL of a webhook: copy it anew from Incoming Webhooks of the app",
    "channel_is_archived": "the webhook's channel is archived: unarchive it, or make a webhook for another one",
    "action_prohibited": "the workspace does not let the webhook post: ask its owner",
}
_BY_REASON = {
    Reason.UNREACHABLE: "Slack was not reached: look at DNS, at the firewall, and at slack_base_url",
    Reason.AMBIGUOUS: "Slack gave no good answer: try again; if it lasts, something stands between here and Slack",
    Reason.REDIRECT: "something between here and Slack answers instead: look at slack_base_url",
    Reason.RATE_LIMITED: _REMEDIES["ratelimited"],
    Reason.CREDENTIAL: "look at the token (or the webhook's URL), and at the file that holds it",
    Reason.DESTINATION: "look at the channel, or at the webhook's URL",
}


def remedy_for(code: str) -> str:
    """Return what to do about one of Slack's words; "" when nobody knows."""
    return _REMEDIES.get(code, "")


def remedy(error: NotifyError) -> str:
    """Return what to do about an error of the Slack senders; "" when nobody knows."""
    code = getattr(error, "code", "") or str(error).rpartition(": ")[2]
    return remedy_for(code) or _BY_REASON.get(Reason(error.reason), "")
