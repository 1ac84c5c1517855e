#!/usr/bin/env bash
# Makes the folder of a Redis out of a backup, in the form that a server with `appendonly yes` reads. Copying store.rdb there is not enough: such a
# server would not look at it, and begin empty.
#
#   deploy/restore.sh BACKUP FOLDER    BACKUP is what deploy/backup.sh made, FOLDER the server's `dir`, empty so far
#
#   DATA=/var/lib/ghost                also unpacks the data folder there; it has to be empty
#
# Stop every bot first and start them last; docs/operations/runbook.md says what is lost between a backup and its restore. Needs redis-server.
set -euo pipefail
backup=$(realpath "${1:?usage: deploy/restore.sh BACKUP FOLDER}")
folder=${2:?usage: deploy/restore.sh BACKUP FOLDER}
fail() { echo "restore: $*" >&2; exit 1; }
umask 077
(cd "$backup" && sha256sum --check --quiet SHA256SUMS) || fail "$backup is not as it was written: nothing was changed"
mkdir -p "$folder"
folder=$(realpath "$folder")
[ -z "$(ls -A "$folder")" ] || fail "$folder is not empty: move away what is there, it may hold more than the backup"
if [ -n "${DATA:-}" ]; then
  [ ! -e "$DATA" ] || [ -z "$(ls -A "$DATA")" ] || fail "$DATA is not empty: an audit there may be longer than that of the backup"
  [ -e "$backup/data.tar.gz" ] || fail "the backup has no data folder"
fi

cp "$backup/store.rdb" "$folder/dump.rdb"
socket=$(mktemp -d)/redis
redis-server --port 0 --unixsocket "$socket" --dir "$folder" --dbfilename dump.rdb --appendonly no --save "" --logfile "$folder/restore.log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$(dirname "$socket")"' EXIT
ask() { redis-cli -s "$socket" "$@" 2>/dev/null; }
info() { ask info persistence | tr -d '\r' | sed -n "s/^$1://p"; }
wait_for() {
  local end=$((SECONDS + 600))
  until "$@"; do
    kill -0 "$server" 2>/dev/null || { tail -n 5 "$folder/restore.log" >&2; fail "the server cannot read the copy"; }
    [ $SECONDS -lt $end ] || fail "it takes longer than ten minutes"
    sleep 0.1
  done
}
loaded() { [ "$(info loading)" = 0 ]; }
written() { [ "$(info aof_rewrite_in_progress)" = 0 ] && [ "$(info aof_rewrite_scheduled)" = 0 ]; }
wait_for loaded
keys=$(ask dbsize)
ask config set appendonly yes >/dev/null
wait_for written
[ "$(info aof_last_bgrewrite_status)" = ok ] || fail "the server could not write its file"
ask shutdown nosave >/dev/null || true
wait "$server" || true
rm -f "$folder/dump.rdb" "$folder/restore.log"
if [ -n "${DATA:-}" ]; then mkdir -p "$DATA" && tar -C "$DATA" -xzf "$backup/data.tar.gz"; fi
echo "$folder: $keys keys; give it to the server's user, then start the server, then the bots"
