#!/usr/bin/env bash
# Keeps what a bot has: the store (sessions, approvals, waiting work) and the data folder (audit, evidence). The bot goes on meanwhile.
#
#   deploy/backup.sh FOLDER    makes FOLDER/store.rdb, FOLDER/data.tar.gz and FOLDER/SHA256SUMS
#
#   STORE=127.0.0.1:6379       the server; behind sentinels its master, or better one of its copies
#   PASSWORD_FILE=FILE         where the server's password is, if it has one
#   DATA=/var/lib/ghost        the data folder; empty: leave it out, for instance where another replica's backup has it
#
# Needs redis-cli (or valkey-cli as redis-cli), tar, sha256sum. The store first, the folder second: what the store knows has its audit.
set -euo pipefail
folder=${1:?usage: deploy/backup.sh FOLDER}
store=${STORE:-127.0.0.1:6379}
data=${DATA-/var/lib/ghost}
umask 077
mkdir -p "$folder"
[ -z "${PASSWORD_FILE:-}" ] || { REDISCLI_AUTH=$(cat "$PASSWORD_FILE") && export REDISCLI_AUTH; }
ask() { redis-cli -h "${store%:*}" -p "${store##*:}" "$@"; }

[ "$(ask ping)" = PONG ] || { echo "backup: the store at $store does not answer" >&2; exit 1; }
# A copy of one moment, made by the server for this connection; nothing is written on its disk.
ask --rdb "$folder/store.rdb.new" >/dev/null
# Ends with the checksum of its content, which the restore has checked before it counts.
[ "$(head -c 5 "$folder/store.rdb.new")" = REDIS ] || { echo "backup: this is no copy of a store" >&2; exit 1; }
mv "$folder/store.rdb.new" "$folder/store.rdb"
files=(store.rdb)
if [ -n "$data" ]; then
  # A file that grows meanwhile is cut where it was: an audit file may end in half a line, which `ghost audit verify` knows and the next append closes.
  tar --warning=no-file-changed --ignore-failed-read -C "$data" -czf "$folder/data.tar.gz.new" . || [ $? = 1 ]
  mv "$folder/data.tar.gz.new" "$folder/data.tar.gz"
  files+=(data.tar.gz)
fi
(cd "$folder" && sha256sum "${files[@]}" >SHA256SUMS)
echo "$folder: $(du -sh "$folder" | cut -f 1)"
