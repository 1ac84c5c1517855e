{{- /* The name of everything: the release's, with the chart's behind it unless it is in there. */ -}}
{{- define "ghost.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "ghost.redis" -}}{{ include "ghost.name" . }}-redis{{- end -}}

{{- /* What selects the bot's pods. */ -}}
{{- define "ghost.selector" -}}
app.kubernetes.io/name: ghost
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "ghost.redisSelector" -}}
app.kubernetes.io/name: ghost-redis
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "ghost.labels" -}}
app.kubernetes.io/part-of: ghost
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "ghost.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* The address of the store: that of the server of this chart, of its sentinels, or the one that the values name. */ -}}
{{- define "ghost.store" -}}
{{- $redis := include "ghost.redis" . -}}
{{- if not .Values.redis.enabled -}}
{{- .Values.config.store.url -}}
{{- else if eq (int .Values.redis.replicas) 0 -}}
redis://{{ $redis }}:6379
{{- else -}}
{{- $hosts := list -}}
{{- range $number := until (int (add1 .Values.redis.replicas)) -}}
{{- $hosts = append $hosts (printf "%s-%d.%s:26379" $redis $number $redis) -}}
{{- end -}}
redis-sentinel://{{ join "," $hosts }}/ghost
{{- end -}}
{{- end -}}

{{- /* The file ghost.toml. Helm hands every number over as a float; the program takes whole numbers as such. */ -}}
{{- define "ghost.toml" -}}
{{- $store := dict "url" (include "ghost.store" .) -}}
{{- if and .Values.redis.enabled (gt (int .Values.redis.replicas) 0) -}}
{{- $_ := set $store "replicas" 1 -}}
{{- end -}}
{{- $config := mergeOverwrite (deepCopy .Values.config) (dict "store" $store) -}}
{{- regexReplaceAll "(?m)(= -?[0-9]+)[.]0$" (toToml $config) "${1}" -}}
{{- end -}}

{{- /* What the strictest profile of a namespace wants of a container. */ -}}
{{- define "ghost.container" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}
