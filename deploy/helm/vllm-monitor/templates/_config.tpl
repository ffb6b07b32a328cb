{{- /* The configuration that the values describe; deploy/kubernetes/base/monitor.yaml is what the defaults make of it. */ -}}
{{- define "vllm-monitor.config" -}}
global:
  scrape_interval: {{ .Values.scrapeInterval }}
scrape_configs:
{{- if .Values.targets }}
  - job_name: vllm
    static_configs:
      - targets: {{ toJson .Values.targets }}
{{- end }}
{{- if .Values.discovery.enabled }}
  - job_name: {{ ternary "vllm-pods" "vllm" (not (empty .Values.targets)) }}
    kubernetes_sd_configs:
      - role: pod
        {{- if .Values.discovery.namespaces }}
        namespaces:
          names: {{ toJson .Values.discovery.namespaces }}
        {{- else if not .Values.discovery.clusterWide }}
        namespaces:
          own_namespace: true
        {{- end }}
    relabel_configs:
      {{- $labels := .Values.discovery.labels }}
      {{- $count := len $labels }}
      {{- $wanted := list }}
      - source_labels:
          {{- range $at, $label := $labels }}
          {{- $any := list }}
          {{- range until (add 1 $count | int) }}
          {{- $any = append $any (ternary (last (splitList "=" $label) | regexQuoteMeta) ".*" (eq . $at)) }}
          {{- end }}
          {{- $wanted = append $wanted (join ";" $any) }}
          - {{ include "vllm-monitor.meta" (first (splitList "=" $label)) }}
          {{- end }}
          - __meta_kubernetes_pod_annotation_vllm_monitor_scrape
        {{- $wanted = append $wanted (printf "%strue" (repeat $count ".*;")) }}
        regex: {{ join "|" $wanted | quote }}
        action: keep
      - source_labels: [__meta_kubernetes_pod_phase]
        regex: Pending|Succeeded|Failed
        action: drop
      - source_labels: [__meta_kubernetes_pod_container_init]
        regex: "true"
        action: drop
      - source_labels: [__meta_kubernetes_pod_annotation_vllm_monitor_port, __meta_kubernetes_pod_container_port_name]
        regex: {{ printf "\\d+;.*|;(%s)" .Values.discovery.portNames | toJson }}
        action: keep
      - source_labels: [__meta_kubernetes_pod_ip, __meta_kubernetes_pod_annotation_vllm_monitor_port]
        regex: ([^:]+);(\d+)
        target_label: __address__
        replacement: $1:$2
      - source_labels: [__meta_kubernetes_pod_ip, __meta_kubernetes_pod_annotation_vllm_monitor_port]
        regex: (.+:.*);(\d+)
        target_label: __address__
        replacement: "[$1]:$2"
      - source_labels: [__meta_kubernetes_namespace]
        target_label: namespace
      - source_labels: [__meta_kubernetes_pod_name]
        target_label: pod
      {{- if .Values.targets }}
      # A job's name is its own; what the rules and a Prometheus beside them know is the label.
      - target_label: job
        replacement: vllm
      {{- end }}
{{- end }}
{{- if and (not .Values.targets) (not .Values.discovery.enabled) }}
  []
{{- end }}
{{- if .Values.ruleValues }}
rule_values_file: values.yaml
{{- end }}
{{- if .Values.alertmanagerConfig.enabled }}
# Only what Alertmanager posts to /alertmanager/oncall is told.
{{- with include "vllm-monitor.tokenFile" . }}
alerting:
  webhook:
    authorization:
      credentials_file: {{ . }}
{{- end }}
route:
  receiver: nobody
receivers:
  - name: nobody
{{- else }}
route:
  receiver: oncall
  group_by: [alertname, model_name]
  group_wait: 0s
receivers:
{{- end }}
  - name: oncall
    {{- if eq .Values.slack.kind "webhook" }}
    slack_configs:
      - api_url_file: /run/secrets/vllm-monitor/{{ .Values.slack.secretKey }}
    {{- else if eq .Values.slack.kind "bot" }}
    slack_configs:
      - channel: {{ required "slack.channel: a bot needs one" .Values.slack.channel | quote }}
        bot_token_file: /run/secrets/vllm-monitor/{{ .Values.slack.secretKey }}
    {{- else }}
    console_configs:
      - send_resolved: true
    {{- end }}
storage:
  path: /var/lib/vllm-monitor/data
web:
  listen: 0.0.0.0:9109
{{- end }}
