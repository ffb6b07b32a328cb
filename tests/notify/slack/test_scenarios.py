"""
The scenarios in which a Slack alerting of ours must hold, and the tests that say so.

All of them run the real SDK over real sockets against the stub, but for those that no socket is part of.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BOT, MESSAGES = "tests.notify.slack.test_bot", "tests.notify.slack.test_messages"
DIGESTS = "tests.notify.slack.test_digests"
RETRIES, OUTAGES = "tests.notify.slack.test_retries", "tests.notify.slack.test_outages"
SENDERS, GRAPHS = "tests.notify.slack.test_senders", "tests.notify.slack.test_graph"
PAYLOAD, ANY_TEXT = "tests.notify.slack.test_payload", "tests.notify.slack.test_any_text"
DESK, SOCKET = "tests.notify.interactive.test_desk", "tests.notify.interactive.test_socket_mode"
BUTTONS = "tests.acceptance.test_buttons"


@dataclass(frozen=True, slots=True)
class Scenario:
    """What happens, what must be seen, and where it is: `module:test` of each proof."""

    happens: str
    seen: str
    proofs: tuple[str, ...]


SCENARIOS = {
    1: Scenario(
        "one alert fires",
        "one post to the channel's ID; header, text, links, metadata; nothing unfurls",
        (f"{MESSAGES}:test_one_alert_is_one_post_that_says_everything",),
    ),
    2: Scenario(
        "a value changes thirty times in a minute",
        "no post, a dozen edits of one message at most, the newest value in the end",
        (f"{MESSAGES}:test_thirty_values_in_a_minute_are_a_dozen_edits_of_one_message_at_most",),
    ),
    3: Scenario(
        "it resolves",
        "the same message is green, with duration and peak, without buttons; one reply",
        (f"{MESSAGES}:test_an_end_turns_the_same_message_green_and_takes_its_buttons",),
    ),
    4: Scenario(
        "it resolves before it was told",
        "nothing is posted",
        (f"{MESSAGES}:test_what_ends_before_anybody_was_told_of_it_is_not_told",),
    ),
    5: Scenario(
        "429, Retry-After 7, on the first post",
        "seven seconds without a post, while edits go on; one message",
        (f"{RETRIES}:test_seven_seconds_are_seven_seconds_for_this_method_and_none_for_another",),
    ),
    6: Scenario(
        "429 with Retry-After missing, 1.5, abc, 86400",
        "an end to waiting, one message; what is too long is told",
        (
            f"{RETRIES}:test_whatever_the_wait_says_there_is_one_message_and_an_end_to_waiting",
            f"{RETRIES}:test_a_wait_of_a_day_is_not_believed_and_told",
        ),
    ),
    7: Scenario(
        "status 200 and ratelimited",
        "as a 429",
        (f"{RETRIES}:test_too_often_is_too_often_although_the_status_says_all_is_well",),
    ),
    **{
        number: Scenario(
            f"the post is carried out, then {happens}",
            "one message: a look with metadata, no second post; later edits are of what was found",
            (
                f"{BOT}:test_a_message_that_may_stand_is_looked_for_and_edited_from_then_on",
                f"{BOT}:test_a_reply_that_may_stand_is_looked_for_in_its_thread",
                f"{DIGESTS}:test_a_digest_that_fails_at_first_is_posted_once",
                *more,
            ),
        )
        for number, happens, more in (
            (8, "the connection is closed", (f"{RETRIES}:test_a_history_that_lags_behind_is_looked_into_late_enough",)),
            (9, "it is reset", ()),
            (
                10,
                "nothing comes",
                (f"{RETRIES}:test_a_post_that_slack_carries_out_later_is_found_by_the_look_before_the_next",),
            ),
        )
    },
    11: Scenario(
        "503 five times",
        "one message, growing gaps, in order",
        (f"{RETRIES}:test_five_failures_before_the_deed_make_one_message_with_growing_gaps_in_order",),
    ),
    12: Scenario(
        "internal_error or fatal_error after the deed",
        "one message",
        (f"{BOT}:test_a_message_that_may_stand_is_looked_for_and_edited_from_then_on",),
    ),
    13: Scenario(
        "HTML, nothing, half a JSON, a redirect to another host",
        "nothing counts as sent without a time stamp, one message in the end; the other host sees no token",
        (
            f"{RETRIES}:test_nonsense_is_no_success_and_in_the_end_there_is_one_message",
            f"{RETRIES}:test_a_302_is_not_followed_so_another_host_never_sees_the_token",
            f"{SENDERS}:test_a_redirect_is_not_followed_so_no_other_host_sees_the_token",
        ),
    ),
    14: Scenario(
        "hostile labels of 5,000 characters",
        "no mention and no foreign link in any text; nothing is cut in the middle, every size is right",
        (
            f"{MESSAGES}:test_what_hostile_labels_say_rings_nobody_and_leads_nowhere",
            f"{PAYLOAD}:test_nothing_makes_a_message_that_breaks_a_limit_or_rings_anybody",
            f"{ANY_TEXT}:test_the_title_of_a_graph_and_what_is_read_aloud",
        ),
    ),
    15: Scenario(
        "300 alerts in ten seconds",
        "three messages at most in ten seconds, one digest of 300, one post a second, the worst first",
        (
            f"{MESSAGES}:test_three_hundred_alerts_in_ten_seconds_are_one_digest_the_worst_first",
            f"{BOT}:test_more_than_a_message_a_second_is_not_posted_and_the_worst_comes_first",
            "tests.acceptance.test_storm:test_three_hundred_alerts_at_once_are_one_digest_soon",
        ),
    ),
    16: Scenario(
        "a group of sixty alerts with labels of 300 characters",
        "every limit holds, +N more, the whole list in the thread",
        (
            f"{MESSAGES}:test_sixty_alerts_with_long_labels_are_a_few_lines_and_a_list_in_the_thread",
            f"{MESSAGES}:test_the_list_in_the_thread_names_every_alert_that_the_message_does_not",
        ),
    ),
    17: Scenario(
        "invalid_blocks",
        "a simpler form, then plain text of at most 3,000 characters; one message, told once",
        (
            f"{OUTAGES}:test_a_refused_form_is_simplified_and_told_once_and_not_for_every_alert",
            f"{OUTAGES}:test_the_plainest_form_is_short_whatever_it_says",
        ),
    ),
    18: Scenario(
        "an edit is refused: message_not_found, edit_window_closed, cant_update_message",
        "one new message with the present state, and the incident goes on there",
        (
            f"{BOT}:test_a_message_that_may_not_be_edited_is_followed_by_one_that_links_to_it",
            f"{BOT}:test_a_message_that_somebody_deleted_is_posted_anew",
        ),
    ),
    19: Scenario(
        "is_archived, not_in_channel, channel_not_found",
        "the fallback has it within two minutes; one attempt a minute; unhealthy; after the repair everything once",
        (f"{OUTAGES}:test_a_dead_channel_is_told_elsewhere_and_tried_once_a_minute_and_caught_up_with",),
    ),
    20: Scenario(
        "invalid_auth or token_revoked, then another token in the file",
        "one attempt a minute, the outbox grows, everything in order, nothing twice, no token in the log",
        (f"{OUTAGES}:test_a_token_that_is_replaced_in_its_file_is_caught_up_with_in_order_and_nobody_hammers",),
    ),
    21: Scenario(
        "kill -9 between request and answer, and between answer and note",
        "one message, and it goes on",
        (
            "tests.acceptance.test_kill:test_killed_between_the_request_and_its_answer_one_message_stands_and_goes_on",
            f"{BOT}:test_what_was_begun_in_an_earlier_life_is_not_done_again",
            "tests.notify.slack.test_schedules:test_in_the_end_every_incident_has_one_message_that_says_how_it_stands",
        ),
    ),
    22: Scenario(
        "half an hour without the daemon, five alerts open, twenty came and went",
        "a message for each of the five at most and one for the rest; old ones are not left red",
        (
            f"{OUTAGES}:test_half_an_hour_without_the_daemon_is_a_message_for_each_that_fires_and_one_for_the_rest",
            f"{DIGESTS}:test_after_an_outage_what_came_and_went_meanwhile_is_one_message",
        ),
    ),
    23: Scenario(
        "Acknowledge: once, twice, two people, somebody else, when it is over, with a locked disk; and nobody",
        "acknowledged in a second, one change, the loser hears so, who and when; escalation stops, or rings once",
        (
            f"{BUTTONS}:test_one_acknowledges_and_everybody_sees_who",
            f"{BUTTONS}:test_who_is_not_allowed_hears_so",
            f"{BUTTONS}:test_slack_hears_of_a_click_in_time_while_the_disk_is_locked",
            f"{BUTTONS}:test_whoever_acknowledges_stops_the_escalation",
            f"{BUTTONS}:test_nobody_answers_and_somebody_is_rung_for_and_then_the_next_receiver_told_over_a_kill",
            f"{DESK}:test_of_two_people_at_once_one_acknowledges_and_the_other_hears_who",
            f"{DESK}:test_a_click_on_an_old_message_is_answered",
        ),
    ),
    24: Scenario(
        "the socket: refresh, reset, frozen, connections.open refused",
        "another one in ten seconds (frozen: thirty), clicks are taken, posts go on, a metric tells",
        (
            f"{SOCKET}:test_whatever_ends_a_connection_another_one_takes_its_place",
            f"{SOCKET}:test_whatever_slack_answers_the_next_attempt_comes_and_comes_through",
            f"{BUTTONS}:test_a_wrong_app_token_disturbs_nothing_and_no_secret_is_seen",
        ),
    ),
    25: Scenario(
        "signed requests: good, too old, no time, another body, not UTF-8, again",
        "200, 401 for each that is not right, and the second changes nothing",
        (
            "tests.web.test_slack_actions:test_a_signed_click_is_taken_and_taken_once",
            "tests.web.test_slack_actions:test_what_is_not_slacks_is_refused",
            f"{BUTTONS}:test_clicks_over_http_are_taken_when_they_are_signed",
        ),
    ),
    26: Scenario(
        "a graph: step 1 429, step 2 500, step 3 closed; a file that is processed for ten seconds",
        "the alert stands already, one picture at most, nobody waits for a file",
        (
            f"{GRAPHS}:test_each_step_fails_once_and_the_file_is_processed_late_and_there_is_one_picture_and_the_alert",
            f"{GRAPHS}:test_a_step_that_fails_costs_no_more_than_the_graph_and_never_shows_it_twice",
            "tests.acceptance.test_graphs:test_an_upload_that_hangs_holds_up_no_alert",
        ),
    ),
    27: Scenario(
        "a webhook answers 200 ok, 200 no_service, 403, 410, 429",
        "the first alone counts",
        (f"{OUTAGES}:test_of_a_webhook_the_word_ok_alone_counts",),
    ),
    28: Scenario(
        "it flaps twenty times in ten minutes",
        "one message with a counter, few edits, over when it has been over for a while",
        (f"{MESSAGES}:test_what_flaps_is_one_message_that_is_over_when_it_has_been_for_a_while",),
    ),
    29: Scenario(
        "quiet hours",
        "a warning waits for the morning's digest, what is critical rings at once",
        ("tests.acceptance.test_quiet_hours:test_a_warning_waits_for_the_morning_and_what_is_critical_does_not",),
    ),
    30: Scenario(
        "test-slack",
        "every step, and for each that fails what to do, and an exit code",
        (
            "tests.commands.test_test_slack:test_everything_works_and_nothing_is_left_behind",
            "tests.commands.test_test_slack:test_what_fails_is_named_with_what_to_do",
        ),
    ),
    31: Scenario(
        "configuration or model change three minutes before",
        "it stands in the message",
        (
            f"{MESSAGES}:test_a_change_of_version_three_minutes_before_stands_in_the_message_until_it_is_over",
            "tests.test_changes:test_a_change_three_minutes_before_is_told_in_words",
        ),
    ),
    32: Scenario(
        "the rules stand still",
        "the heartbeat ends, and the receivers are told at the second interval",
        (
            "tests.acceptance.test_heartbeat:test_it_stops_when_the_rules_are_not_evaluated_any_more",
            "tests.test_stalled:test_at_the_second_bad_verdict_it_is_told_once_and_its_end_when_all_is_well",
        ),
    ),
}


def proofs() -> Iterator[tuple[int, str]]:
    return ((number, proof) for number, scenario in SCENARIOS.items() for proof in scenario.proofs)


def test_every_scenario_has_a_proof() -> None:
    assert sorted(SCENARIOS) == list(range(1, 33))
    assert all(scenario.proofs for scenario in SCENARIOS.values())


@pytest.mark.parametrize(("number", "proof"), list(proofs()))
def test_a_proof_is_a_test_that_is_collected(number: int, proof: str) -> None:
    module, _, name = proof.partition(":")
    file = ROOT / f"{module.replace('.', '/')}.py"
    assert file.name.startswith("test_"), number
    test = getattr(import_module(module), name)
    assert callable(test)
    assert re.search(rf"^def {name}\(", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert not {mark.name for mark in getattr(test, "pytestmark", ())} & {"skip", "skipif", "xfail"}
