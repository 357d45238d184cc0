{{- define "holdfast.labels" -}}
app.kubernetes.io/name: holdfast
app.kubernetes.io/part-of: holdfast
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "holdfast.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "holdfast.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Of "port" and "hostNetwork": on the network of the node nobody but the node itself is answered. */}}
{{- define "holdfast.probes" -}}
startupProbe:
  httpGet:
    {{- if .hostNetwork }}
    host: 127.0.0.1
    {{- end }}
    path: /livez
    port: health
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet:
    {{- if .hostNetwork }}
    host: 127.0.0.1
    {{- end }}
    path: /livez
    port: health
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet:
    {{- if .hostNetwork }}
    host: 127.0.0.1
    {{- end }}
    path: /readyz
    port: health
  periodSeconds: 5
  timeoutSeconds: 5
{{- end -}}
