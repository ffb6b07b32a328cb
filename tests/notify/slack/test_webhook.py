"""What a webhook's message has that needs no bot: the numbers that decide, and a silence that can be copied."""

from monitor.model.instant import MINUTE, Instant
from monitor.model.labels import Labels
from monitor.notify.readings import NOTHING, Change, Readings
from monitor.notify.secret import Secret
from monitor.notify.slack.webhook import SlackWebhook
from tests.notify.samples import ended, note, queue
from tests.slackstub.stub import SlackStub


class Known:
    def at(self, labels: Labels, at: Instant) -> Readings:
        del labels, at
        return Readings(running=9, waiting=42)

    def worst(self, labels: Labels, since: Instant, until: Instant) -> Readings:
        del labels, since, until
        return NOTHING


class Changed:
    def before(self, labels: Labels, at: Instant) -> list[Change]:
        return [Change(at - 3 * MINUTE, f"max concurrency 27.1 → 7.7 of {labels.value('instance')}")]


def test_a_webhook_tells_what_changed_shortly_before_while_it_fires() -> None:
    with SlackStub() as stub:
        webhook = SlackWebhook(Secret(stub.webhook_url), changes=Changed())
        webhook.notify(note(queue("a:1", 3.0), queue("b:1", 42.0)))
        webhook.notify(note(ended(queue())))
        firing, over = (str(message.payload) for message in stub.messages)
    # Of the worst.
    assert "changed 3m before: max concurrency 27.1 → 7.7 of b:1" in firing
    assert "changed" not in over


def test_a_webhook_tells_the_numbers_and_how_to_silence() -> None:
    with SlackStub() as stub:
        webhook = SlackWebhook(Secret(stub.webhook_url), facts=Known(), external_url="https://monitor.example.com")
        webhook.notify(note(queue()))
        webhook.notify(note(ended(queue())))
        firing, over = (str(message.payload).replace("\\xa0", " ") for message in stub.messages)
    assert "*Now:* 9 running · 42 waiting" in firing
    assert "vllm-monitor silence add alertname=VLLMQueueLong" in firing
    assert "silence add" not in over
