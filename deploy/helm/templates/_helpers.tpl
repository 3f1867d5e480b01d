{{- /* The program that a deployment runs: webhooks has two. */}}
{{- define "studio.program" -}}
{{ . | trimSuffix "-log" | trimSuffix "-dispatch" }}
{{- end }}

{{- /* How to find the pods of the database and of the broker, whoever created them. */}}
{{- define "studio.databasePods" -}}
{{- if eq .Values.database.kind "cluster" }}{cnpg.io/cluster: {{ .Values.database.name }}}{{ else }}{app.kubernetes.io/name: postgres}{{ end }}
{{- end }}
{{- define "studio.brokerPods" -}}
{app.kubernetes.io/name: {{ if eq .Values.broker.kind "cluster" }}studio-broker{{ else }}rabbitmq{{ end }}}
{{- end }}

{{- /* For a user id: ours is 10001; the official images of Postgres and RabbitMQ have 999, and volumes. */}}
{{- define "studio.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ . }}
  runAsGroup: {{ . }}
  {{- if eq . 999 }}
  fsGroup: {{ . }}
  {{- end }}
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- /* What every pod of ours has, beside its containers. */}}
{{- define "studio.pod" -}}
{{ include "studio.podSecurity" 10001 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: {medium: Memory, sizeLimit: 16Mi}
  {{- if eq .Values.database.kind "cluster" }}
  # The certificate of the database's own authority, which CloudNativePG creates. Its private key is not mounted.
  - name: database-ca
    secret:
      secretName: {{ .Values.database.name }}-ca
      items: [{key: ca.crt, path: ca.crt}]
  {{- end }}
{{- end }}

{{- define "studio.container" -}}
image: {{ .Values.image.name }}:{{ .Values.image.tag }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  {{- if eq .Values.database.kind "cluster" }}
  - {name: database-ca, mountPath: /etc/studio/database, readOnly: true}
  {{- end }}
{{- end }}
