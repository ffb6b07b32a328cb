"""
What an answer of Slack, or the lack of one, means for the next attempt.

reference: Slack, errors of chat.postMessage and of incoming webhooks; slack-sdk 3.48, measured.
"""

import http.client
import json
import re
from urllib.error import URLError

from slack_sdk.errors import SlackApiError, SlackClientError, SlackRequestError

from monitor.dispatch.notification import NotifyError
from monitor.model.instant import from_seconds
from monitor.notify.failure import Reason, cause, failure, wait

_BY_REASON: dict[Reason, str] = {
    Reason.RATE_LIMITED: "ratelimited rate_limited message_limit_exceeded",
    # Slack did not get the whole body: nothing was done.
    Reason.UNREACHABLE: "request_timeout",
    Reason.AMBIGUOUS: (
        "internal_error fatal_error service_unavailable team_added_to_org org_login_required rollup_error"
    ),
    Reason.MESSAGE: (
        "invalid_blocks invalid_blocks_format msg_blocks_too_long msg_too_long no_text too_many_attachments"
        " attachment_payload_limit_exceeded metadata_too_large invalid_metadata_format invalid_metadata_schema"
        " invalid_arguments invalid_form_data invalid_payload invalid_attachments markdown_text_conflict"
        " invalid_json json_not_object block_mismatch"
    ),
    Reason.DESTINATION: (
        "channel_not_found not_in_channel is_archived is_inactive channel_is_archived restricted_action"
        " restricted_action_read_only_channel restricted_action_thread_only_channel"
        " restricted_action_non_threadable_channel restricted_action_thread_locked cannot_reply_to_message"
        " messages_tab_disabled thread_not_found message_not_found cant_update_message edit_window_closed"
        " user_not_found action_prohibited no_service no_active_hooks"
        " no_service_id no_team team_disabled posting_to_general_channel_denied"
    ),
    Reason.CREDENTIAL: (
        "not_authed invalid_auth account_inactive token_revoked token_expired missing_scope not_allowed_token_type"
        " ekm_access_denied access_denied accesslimited two_factor_setup_required team_access_not_granted"
        " invalid_token no_permission"
    ),
}
_REASONS = {code: reason for reason, codes in _BY_REASON.items() for code in codes.split()}
_CODE = re.compile(r"[a-z][a-z0-9_]{1,60}")
_OK, _TOO_MANY = 200, 429
_DIGITS = 10
# The first line whose status is not above the answer's counts; asked when the code is not known.
_BY_STATUS: tuple[tuple[int, Reason, str], ...] = (
    (500, Reason.AMBIGUOUS, "Slack failed"),
    (409, Reason.DESTINATION, "nothing takes messages at this address"),
    (408, Reason.AMBIGUOUS, "Slack waited in vain"),
    (404, Reason.DESTINATION, "nothing takes messages at this address"),
    (401, Reason.CREDENTIAL, "not allowed"),
    (400, Reason.UNKNOWN, "Slack refused"),
    (300, Reason.REDIRECT, "Slack's address answers with a redirect, which is not followed"),
    (0, Reason.AMBIGUOUS, "not an answer of Slack"),
)
# What the SDK, urllib and http.client throw: AttributeError and TypeError when the answer is JSON but no object,
# RuntimeError when no thread can be started for the deadline.
THROWN = (SlackClientError, OSError, http.client.HTTPException, ValueError, AttributeError, TypeError, RuntimeError)


def code_of(body: str) -> str:
    """Return Slack's word for what is wrong, from a JSON object or a body of one word; "" when there is none."""
    word = body.strip()
    if word.startswith("{"):
        try:
            answer = json.loads(word)
        except (ValueError, RecursionError):
            return ""
        word = str(answer.get("error", ""))
    return word if _CODE.fullmatch(word) else ""


def answer(status: int, code: str, retry_after: str | None) -> NotifyError:
    """
    Return the error that an answer other than success is.

    `code` is what `code_of` found. Slack's status is 200 for most errors of its Web API: the code decides then.
    """
    if status == _TOO_MANY:
        return failure(
            Reason.RATE_LIMITED, f"Slack asks for fewer messages (429){_rest(retry_after)}", wait(retry_after)
        )
    reason = _REASONS.get(code)
    if reason is not None:
        return failure(reason, f"Slack refused: {code}", wait(retry_after) if reason is Reason.RATE_LIMITED else None)
    if code and status == _OK:
        return failure(Reason.UNKNOWN, f"Slack refused, in a word not known here: {code}")
    _, reason, text = next(row for row in _BY_STATUS if row[0] <= max(status, 0))
    return failure(reason, f"{text} (status {status}{', ' + code if code else ''})")


def _rest(retry_after: str | None) -> str:
    """Return how long a rest Slack asked for, where that is longer than anybody rests."""
    asked = retry_after or ""
    is_long = asked.isdecimal() and len(asked) < _DIGITS and (wait(asked) or 0) < from_seconds(float(asked))
    return f", and a rest of {asked} s: it is asked again sooner" if is_long else ""


_BY_TYPE: tuple[tuple[type[Exception], Reason, str], ...] = (
    (SlackRequestError, Reason.DESTINATION, "the address is not a URL"),
    (http.client.InvalidURL, Reason.DESTINATION, "the address is not a URL"),
    (TimeoutError, Reason.AMBIGUOUS, "Slack did not answer in time"),
    (OSError, Reason.AMBIGUOUS, "the connection broke before the answer"),
    (http.client.HTTPException, Reason.AMBIGUOUS, "the answer broke off"),
    (Exception, Reason.AMBIGUOUS, "not an answer of Slack"),
)


def exception(error: Exception) -> NotifyError:
    """Return the NotifyError of one of THROWN. Its text never holds the text of `error`: that may be a URL."""
    if isinstance(error, SlackApiError):
        return _of_response(error.response)
    if isinstance(error, URLError):
        # Thrown while connecting and sending only: an incomplete request is never carried out.
        return failure(Reason.UNREACHABLE, f"Slack cannot be reached: {cause(error.reason)}")
    reason, text = next((reason, text) for kind, reason, text in _BY_TYPE if isinstance(error, kind))
    return failure(reason, f"{text}: {type(error).__name__}")


class RefusedError(NotifyError):
    """Slack said why it did not do it, in the word `code`."""

    def __init__(self, error: NotifyError, code: str) -> None:
        super().__init__(
            str(error),
            reason=error.reason,
            retryable=error.retryable,
            retry_after=error.retry_after,
            doubtful=error.doubtful,
            hopeless=error.hopeless,
        )
        self.code = code


def _of_response(response: object) -> NotifyError:
    """Return the error of an SDK's response (a SlackResponse, whose data is the JSON object Slack sent)."""
    status = getattr(response, "status_code", 0)
    data = getattr(response, "data", None)
    headers = {str(name).lower(): str(value) for name, value in dict(getattr(response, "headers", None) or {}).items()}
    word = str(data.get("error", "")) if isinstance(data, dict) else ""
    code = word if _CODE.fullmatch(word) else ""
    error = answer(status, code, headers.get("retry-after"))
    return RefusedError(error, code) if code else error
