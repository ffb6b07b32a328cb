{{- define "vllm-monitor.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "vllm-monitor.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "vllm-monitor.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "vllm-monitor.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "vllm-monitor.selector" -}}
app.kubernetes.io/name: {{ include "vllm-monitor.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "vllm-monitor.labels" -}}
{{ include "vllm-monitor.selector" . }}
app.kubernetes.io/part-of: vllm-monitor
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
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
