export LC_ALL=C PATH="${PATH:-/bin}:/usr/sbin:/sbin:/usr/bin:/bin"
part() {
  name=$1; shift
  if ! command -v "$1" >/dev/null 2>&1; then out="$1 is not installed"; code=127
  else
    out=$("$@" 2>/dev/null); code=$?
    if [ "$code" != 0 ]; then out=$("$@" 2>&1 >/dev/null | head -n 5); fi
  fi
  printf 'section %s %s %s\n%s\n' "$name" "$code" "${#out}" "$out"
}
servers() {
  for file in /run/systemd/resolve/resolv.conf /etc/resolv.conf; do
    if [ -r "$file" ]; then sed -n 's/^nameserver \([^ ]*\).*/\1/p' "$file" | head -n 3; return 0; fi
  done
  return 1
}
answer() { dig "@$1" {{name}} A +time=2 +tries=1 2>&1; true; }
gathered() {
  part servers servers
  at=0
  for server in $(servers 2>/dev/null | grep -v '^168.63.129.16$') 168.63.129.16; do
    at=$((at + 1))
    if command -v dig >/dev/null 2>&1; then part "answer-$at" answer "$server"; else part "answer-$at" dig; fi
  done
}
packed=$(gathered | gzip -9nc | base64 -w0)
digest=$(printf %s "$packed" | sha256sum | cut -c 1-64)
printf 'ghost-parcel 1 %s %s %s\n' "$digest" "${#packed}" {{from}}
printf %s "$packed" | tail -c +$(({{from}} + 1)) | head -c 3600
printf '\nghost-parcel-end\n'
