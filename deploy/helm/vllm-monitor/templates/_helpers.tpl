{{- define "vllm-monitor.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* 48 characters: behind it comes what sets two objects apart, and that is the name of a Service. */ -}}
{{- define "vllm-monitor.fullname" -}}
{{- $name := .Values.fullnameOverride }}
{{- if not $name }}
{{- $name = ternary .Release.Name (printf "%s-%s" .Release.Name (include "vllm-monitor.name" .)) (contains (include "vllm-monitor.name" .) .Release.Name) }}
{{- end }}
{{- $name = $name | replace "." "-" | trunc 48 | trimSuffix "-" }}
{{- if not (regexMatch "^[a-z]" $name) }}
{{- fail (printf "a Service is not to be called %s: set fullnameOverride to what begins with a letter" $name) }}
{{- end }}
{{- $name }}
{{- end }}

{{- define "vllm-monitor.selector" -}}
app.kubernetes.io/name: {{ include "vllm-monitor.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "vllm-monitor.labels" -}}
{{ include "vllm-monitor.selector" . }}
app.kubernetes.io/part-of: vllm-monitor
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* What Alertmanager shows; "" where nothing is told by way of one. */ -}}
{{- define "vllm-monitor.tokenFile" -}}
{{- if and .Values.alertmanagerConfig.enabled .Values.alertmanagerConfig.tokenKey }}
{{- printf "/run/secrets/vllm-monitor/%s" .Values.alertmanagerConfig.tokenKey }}
{{- end }}
{{- end }}

{{- /* Whether a Secret is read at all. */ -}}
{{- define "vllm-monitor.secrets" -}}
{{- if or (ne .Values.slack.kind "none") (include "vllm-monitor.tokenFile" .) }}true{{ end }}
{{- end }}

{{- define "vllm-monitor.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "vllm-monitor.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- /* A Kubernetes label as it is called in the meta labels of discovery. */ -}}
{{- define "vllm-monitor.meta" -}}
{{- printf "__meta_kubernetes_pod_label_%s" (regexReplaceAll "[^a-zA-Z0-9_]" . "_") }}
{{- end }}
