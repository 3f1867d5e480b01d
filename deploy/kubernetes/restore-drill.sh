#!/bin/sh
# Proves that the backups can be restored: restores a second database from the object store to a point in time
# (by default ten minutes ago), checks its contents, reports how long it took and deletes it. The running
# system is not touched. Run it every month, and after each change to the backups.
#
#   deploy/kubernetes/restore-drill.sh [2026-11-15T12:00:00Z]
#
# Environment variables: NAMESPACE (studio), CLUSTER (studio-db: whose backups), WAIT (2h) and KEEP=1 (keep the restored
# cluster).
set -eu
here=$(dirname "$0")
namespace=${NAMESPACE:-studio}
cluster=${CLUSTER:-studio-db}
moment=${1:-$(date -u -d '10 minutes ago' +%Y-%m-%dT%H:%M:%SZ)}
began=$(date +%s)

case $moment in
    [0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z) ;;
    *) echo "The moment must look like 2026-11-15T12:00:00Z, not '$moment'." >&2; exit 2 ;;
esac
case $cluster in
    ''|*[!a-z0-9-]*) echo "'$cluster' is no name of a cluster." >&2; exit 2 ;;
esac

kube() { kubectl --namespace "$namespace" "$@"; }
clean_up() {
    [ -n "${KEEP:-}" ] || kube delete --ignore-not-found --wait=false cluster.postgresql.cnpg.io/studio-db-drill \
        networkpolicy/studio-db-drill
}
trap clean_up EXIT

echo "Restoring $cluster as it was at $moment …"
sed "s/TARGET_TIME/$moment/; s/SOURCE_CLUSTER/$cluster/" "$here/restore-drill.yaml" | kube create -f -
kube wait --for=condition=Ready --timeout="${WAIT:-2h}" cluster.postgresql.cnpg.io/studio-db-drill
echo "It is up after $(($(date +%s) - began)) s. Checking what is in it …"
kube exec -i studio-db-drill-1 -c postgres -- psql -X -v ON_ERROR_STOP=1 -d studio < "$here/../restore-checks.sql"
echo "The backups can be restored; it took $(($(date +%s) - began)) s."
