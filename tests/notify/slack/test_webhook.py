"""What a webhook's message has that needs no bot: the numbers that decide, and a silence that can be copied."""

from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.notify.readings import NOTHING, Readings
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


def test_a_webhook_tells_the_numbers_and_how_to_silence() -> None:
    with SlackStub() as stub:
        webhook = SlackWebhook(Secret(stub.webhook_url), facts=Known(), external_url="https://monitor.example.com")
        webhook.notify(note(queue()))
        webhook.notify(note(ended(queue())))
        firing, over = (str(message.payload).replace("\\xa0", " ") for message in stub.messages)
    assert "*Now:* 9 running · 42 waiting" in firing
    assert "vllm-monitor silence add alertname=VLLMQueueLong" in firing
    assert "silence add" not in over
