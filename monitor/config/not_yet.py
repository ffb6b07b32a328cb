"""
Keys that Prometheus or Alertmanager have and this program does not have yet, with a hint where there is a way.

They are refused by name: whoever brings a file along learns what it would lose, and is not told of a typing mistake.
"""


def _keys(names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), "")


_HTTP_CLIENT = "oauth2 proxy_url no_proxy proxy_from_environment proxy_connect_header enable_http2 http_headers"

TOP = _keys(
    """remote_read tracing otlp runtime scrape_config_files
    templates"""
) | {"mute_time_intervals": "use time_intervals"}
GLOBAL = _keys(
    """scrape_protocols body_size_limit sample_limit label_limit label_name_length_limit label_value_length_limit
    target_limit keep_dropped_targets query_log_file scrape_failure_log_file extra_scrape_metrics
    metric_name_validation_scheme metric_name_escaping_scheme convert_classic_histograms_to_nhcb
    always_scrape_classic_histograms scrape_native_histograms
    http_config smtp_from smtp_smarthost smtp_hello smtp_auth_username smtp_auth_password smtp_auth_password_file
    smtp_auth_identity smtp_auth_secret smtp_require_tls smtp_tls_config pagerduty_url opsgenie_api_key
    opsgenie_api_key_file opsgenie_api_url victorops_api_key victorops_api_key_file victorops_api_url
    wechat_api_url wechat_api_secret wechat_api_corp_id telegram_api_url telegram_bot_token webex_api_url jira_api_url
    rocketchat_api_url rocketchat_token rocketchat_token_file rocketchat_token_id rocketchat_token_id_file
    mattermost_webhook_url mattermost_webhook_url_file"""
) | {
    "slack_app_token": "set bot_token in slack_configs",
    "slack_app_token_file": "set bot_token_file in slack_configs",
    "slack_app_url": "set slack_base_url",
}
SCRAPE_CONFIG = _keys(
    _HTTP_CLIENT
    + """ scrape_protocols scrape_classic_histograms
    always_scrape_classic_histograms scrape_native_histograms convert_classic_histograms_to_nhcb
    scrape_failure_log_file target_limit keep_dropped_targets enable_compression track_timestamps_staleness
    native_histogram_bucket_limit native_histogram_min_bucket_factor metric_name_validation_scheme
    metric_name_escaping_scheme extra_scrape_metrics
    azure_sd_configs consul_sd_configs digitalocean_sd_configs docker_sd_configs
    dockerswarm_sd_configs ec2_sd_configs eureka_sd_configs gce_sd_configs hetzner_sd_configs
    ionos_sd_configs kuma_sd_configs lightsail_sd_configs linode_sd_configs
    marathon_sd_configs nerve_sd_configs nomad_sd_configs openstack_sd_configs ovhcloud_sd_configs
    puppetdb_sd_configs scaleway_sd_configs serverset_sd_configs stackit_sd_configs triton_sd_configs
    uyuni_sd_configs vultr_sd_configs"""
) | {
    "bearer_token": "use authorization",
    "bearer_token_file": "use authorization",
}
HTTP_CLIENT = _keys(_HTTP_CLIENT) | {
    "bearer_token": "use authorization",
    "bearer_token_file": "use authorization",
}
KUBERNETES_SD_CONFIG = HTTP_CLIENT | {"kubeconfig_file": "use api_server, authorization and tls_config"}
TLS_CONFIG = _keys("min_version max_version") | {
    "ca": "use ca_file",
    "ca_ref": "use ca_file",
    "cert": "use cert_file",
    "cert_ref": "use cert_file",
    "key": "use key_file",
    "key_ref": "use key_file",
}
AUTHORIZATION = {"credentials_ref": "use credentials_file"}
BASIC_AUTH = {
    "username_file": "use username",
    "username_ref": "use username",
    "password_ref": "use password_file",
}
ROUTE = {
    "match": "use matchers: ['severity=\"critical\"']",
    "match_re": "use matchers: ['severity=~\"critical|page\"']",
}
INHIBIT_RULE = _keys("sources") | {
    "source_match": "use source_matchers: ['severity=\"critical\"']",
    "source_match_re": "use source_matchers: ['severity=~\"critical|page\"']",
    "target_match": "use target_matchers: ['severity=\"warning\"']",
    "target_match_re": "use target_matchers: ['severity=~\"warning|info\"']",
}
ALERTMANAGER = (
    _keys(_HTTP_CLIENT)
    | _keys("alert_relabel_configs sigv4 follow_redirects consul_sd_configs")
    | {"bearer_token": "use authorization", "bearer_token_file": "use authorization"}
)
RECEIVER = _keys(
    """discord_configs email_configs incidentio_configs jira_configs mattermost_configs msteams_configs
    msteamsv2_configs opsgenie_configs pushover_configs rocketchat_configs sns_configs
    telegram_configs victorops_configs webex_configs wechat_configs"""
)
SLACK_CONFIG = _keys(
    """http_config username color title title_link pretext text message_text fields short_fields footer fallback
    callback_id icon_emoji icon_url image_url thumb_url link_names mrkdwn_in actions update_message timeout"""
) | {
    "app_token": "use bot_token",
    "app_token_file": "use bot_token_file",
    "app_url": "set slack_base_url in global",
}
HTTP_CONFIG = _keys(_HTTP_CLIENT) | {
    "bearer_token": "use authorization",
    "bearer_token_file": "use authorization",
    "follow_redirects": "what is posted is meant for the URL alone: no redirect is followed",
}
WEBHOOK_CONFIG = _keys("payload")
PAGERDUTY_CONFIG = _keys(
    "http_config client client_url description class component group details images links source timeout"
) | {
    "service_key": "use routing_key",
    "service_key_file": "use routing_key_file",
    "severity": "use severities: {page: critical}",
}
STORAGE = _keys("tsdb exemplars")
TLS_SERVER_CONFIG = _keys("cipher_suites curve_preferences prefer_server_cipher_suites client_allowed_sans") | {
    "cert": "use cert_file",
    "key": "use key_file",
    "client_ca": "use client_ca_file",
}
WEB_FILE = _keys("http_server_config rate_limit")
REMOTE_WRITE = (
    _keys(_HTTP_CLIENT)
    | _keys("sigv4 azuread google_iam send_exemplars send_native_histograms metadata_config protobuf_message")
    | _keys("round_robin_dns http_headers follow_redirects")
    | {"bearer_token": "use authorization", "bearer_token_file": "use authorization"}
)
QUEUE_CONFIG = dict.fromkeys(
    ["capacity", "max_shards", "min_shards", "batch_send_deadline"], "the history on disk is the queue"
) | {"retry_on_http_429": "429 is always tried again"}
