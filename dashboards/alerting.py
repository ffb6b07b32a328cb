"""The dashboard "vLLM alerts & monitor": what fires, which rules could not, and whether the monitor itself is well."""

from dashboards.chosen import alerts, count, everywhere, servers
from dashboards.look import About, Query, Steps, Words
from dashboards.overview import alert_lanes
from dashboards.page import Page, its_engine
from dashboards.panels import Panel, lines, number
from dashboards.tables import Column, rows
from dashboards.thresholds import threshold

# Of the daemon's own series: their instance is the daemon, which nobody chooses above.
MONITOR = "{{instance}}"
LINKED: Words = {0: ("cut", "red"), 1: ("connected", "green")}
WRITTEN: Words = {0: ("not written", "red"), 1: ("written", "green")}
ACCEPTED: Words = {0: ("refused", "red"), 1: ("accepted", "green")}
BROKEN: Steps = {"red": 1}


def alerting() -> Page:
    return Page(
        "alerts",
        "vLLM alerts & monitor",
        "What fires, which rules cannot, and is the monitor itself well?",
        {
            "Alerts": _counts(),
            " ": [alert_lanes()],
            "   ": [_table(), _over_time()],
            "Rules": _rules(),
            "  ": _cost(),
            "Scrapes and probes": _scrapes(),
            "Is anybody told?": _told(),
            "    ": _messages(),
        },
        since="now-6h",
    )


def _counts() -> list[Panel]:
    def firing(title: str, severity: str, color: str) -> Panel:
        of_severity = alerts("firing", f'severity="{severity}"')
        about = About(title, f"Alerts of severity {severity} that fire.", "short")
        return number(about, Query(count(of_severity), severity), steps={color: 1}, words={0: ("none", "green")})

    active = everywhere("vllm_monitor:silences:count", 'state="active"')
    pending = About("Pending", "True, but not yet for long enough.", "short")
    silences = About("Silences", "In force: whom they match, nobody is told of.", "short")
    blind = About(
        "Blind rules",
        "Rules that find nothing to read on a server, for no good reason.",
        "short",
        "VLLMMonitorRuleBlind",
    )
    return [
        firing("Critical", "critical", "red"),
        firing("Warnings", "warning", "orange"),
        firing("Information", "info", "blue"),
        number(pending, Query(count(alerts("pending")), "pending"), steps={"yellow": 1}),
        number(silences, Query(f"sum({active})", "active"), base="text"),
        number(
            blind,
            Query(
                f"count({servers('vllm_monitor_rule_blind')} == 1) or "
                f"0 * sum({everywhere('vllm_monitor:evaluations:rate5m')})",
                "blind",
            ),
            steps={"orange": threshold("VLLMMonitorRuleBlind", "rules") + 1},
            words={0: ("none", "green")},
        ),
    ]


def _table() -> Panel:
    about = About(
        "Firing now", "Every alert that fires, of the chosen servers. Its runbook has a heading of its name.", "short"
    )
    by = ("alertname", "severity", "instance", "model_name", "engine")
    query = f"count by ({', '.join(by)}) ({alerts('firing')})"
    column = Column("Alert", query, label="alertname")
    # As luck would have it, in the order of the alphabet what is most severe comes first.
    return rows(about, by, column, link=("instance", its_engine("instance")), lowest_first="Severity")


def _over_time() -> Panel:
    about = About("Alerts by severity", "How many fire.", "short")
    query = Query(f"count by (severity) ({alerts('firing')})", "{{severity}}")
    return lines(about, query, stacked=True, colors={"critical": "red", "warning": "orange", "info": "blue"})


def _rules() -> list[Panel]:
    blind = About(
        "Rules that cannot fire",
        "What the server does not offer to them, without a version or a flag that explains it. `vllm-monitor check` "
        "says it in a sentence.",
        "short",
        "VLLMMonitorRuleBlind",
    )
    by = ("instance", "rule", "reason")
    failing = About(
        "Failing rules", "Evaluations that end in an error, a second, by group.", "ops", "VLLMMonitorRulesFailing"
    )
    missed = About(
        "Evaluations left out",
        "In 5 minutes: the machine has no time for them.",
        "short",
        "VLLMMonitorEvaluationsMissed",
    )
    return [
        rows(blind, by, Column("Blind", f"max by ({', '.join(by)}) ({servers('vllm_monitor_rule_blind')})")),
        lines(failing, Query(everywhere("vllm_monitor:evaluation_failures:rate5m"), "{{group}} {{instance}}")),
        lines(missed, Query(everywhere("vllm_monitor:evaluations_missed:increase5m"), MONITOR)),
    ]


def _cost() -> list[Panel]:
    return [
        lines(
            About("Time of an evaluation", "Of all rules of one slot: the mean, and the 95th percentile.", "s"),
            Query(everywhere("vllm_monitor:evaluation_seconds:avg_5m"), f"mean {MONITOR}"),
            Query(everywhere("vllm_monitor:evaluation_seconds:p95_5m"), f"p95 {MONITOR}"),
        ),
        lines(
            About("Rules evaluated", "A second. It stands still when the monitor does.", "ops"),
            Query(everywhere("vllm_monitor:evaluations:rate5m"), MONITOR),
        ),
    ]


def _scrapes() -> list[Panel]:
    # These keep the targets' job and the daemon's instance.
    failed = About("Scrapes that fail", "A second, by reason.", "ops", "VLLMMonitorScrapeFailing")
    probes = About(
        "Probes that fail", "Questions beside the page that vLLM does not answer, a second, by reason.", "ops"
    )
    took = About("Time of a scrape", "Of each server's page.", "s", "VLLMScrapeSlow")
    return [
        lines(
            failed,
            Query(everywhere("vllm_monitor:scrapes_failed:rate5m"), "{{job}} {{reason}}"),
            Query(everywhere("vllm_monitor:scrapes:rate5m"), "{{job}} tried"),
        ),
        lines(probes, Query(everywhere("vllm_monitor:probes_failed:rate5m"), "{{job}} {{probe}} {{reason}}")),
        lines(
            took,
            Query(servers("scrape_duration_seconds"), "{{instance}}"),
            steps={"orange": threshold("VLLMScrapeSlow", "seconds")},
        ),
    ]


def _told() -> list[Panel]:
    held = everywhere("vllm_monitor:alerts:count", 'state="firing"')
    waiting: Steps = {"red": threshold("VLLMMonitorNotificationsFailing", "waiting") + 1}
    return [
        number(
            About(
                "Waiting to be told",
                "Notifications that are not delivered yet.",
                "short",
                "VLLMMonitorNotificationsFailing",
            ),
            Query(f"sum({everywhere('vllm_monitor_notifications_waiting')})", "waiting"),
            steps=waiting,
            words={0: ("none", "green")},
        ),
        number(
            About("Buttons", "Whether clicks in Slack arrive (Socket Mode).", "none", "VLLMMonitorSlackDisconnected"),
            Query(f"min({everywhere('vllm_monitor_socket_mode_connected')})", "link"),
            base="text",
            words=LINKED,
        ),
        number(
            About("Signs of life missed", "Heartbeats of the last 5 minutes that did not arrive.", "short"),
            Query(f"sum({everywhere('vllm_monitor:heartbeats_failed:increase5m')})", "missed"),
            steps=BROKEN,
            base="text",
            words={0: ("none", "green")},
        ),
        number(
            About("Alerts held", "That fire, muted ones among them.", "short"),
            Query(f"sum({held})", "firing"),
            base="text",
        ),
        number(
            About(
                "State file", "Whether it holds all that must outlive a restart.", "none", "VLLMMonitorStateNotWritten"
            ),
            Query(f"min({everywhere('vllm_monitor_state_written')})", "state"),
            base="text",
            words=WRITTEN,
        ),
        number(
            About("Configuration", "What became of the last reload.", "none", "VLLMMonitorConfigReloadFailed"),
            Query(f"min({everywhere('vllm_monitor_config_last_reload_successful')})", "reload"),
            base="text",
            words=ACCEPTED,
        ),
    ]


def _messages() -> list[Panel]:
    sent = About("Messages", "Attempts to deliver one, in 5 minutes.", "short")
    failed = About(
        "Messages that failed",
        "In 5 minutes, by reason. They are tried again.",
        "short",
        "VLLMMonitorNotificationsFailing",
    )
    muted = About(
        "Alerts not told of", "Left out of messages because they are muted, in 5 minutes, by what mutes them.", "short"
    )
    clicks = About("Clicks", "What became of clicks in Slack, in 5 minutes.", "short")
    return [
        lines(sent, Query(everywhere("vllm_monitor:notifications:increase5m"), "{{integration}}")),
        lines(failed, Query(everywhere("vllm_monitor:notifications_failed:increase5m"), "{{integration}} {{reason}}")),
        lines(muted, Query(everywhere("vllm_monitor:notifications_suppressed:increase5m"), "{{reason}}")),
        lines(clicks, Query(everywhere("vllm_monitor:clicks:increase5m"), "{{outcome}}")),
    ]
