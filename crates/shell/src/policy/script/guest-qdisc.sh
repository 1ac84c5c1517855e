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
stats=
if [ {{counters}} = yes ]; then stats=-s; fi
devices() { all=$(tc qdisc show) || return $?; printf '%s\n' "$all" | sed -n 's/^qdisc [^ ]* [^ ]* dev \([^ ]*\) .*/\1/p' | uniq; }
shown() {
  for object in qdisc class filter; do
    tc $stats -j "$object" show dev "$1" 2>/dev/null || tc $stats "$object" show dev "$1" || return $?
    echo
  done
}
gathered() {
  if ! command -v tc >/dev/null 2>&1; then part devices tc; return; fi
  part devices devices
  at=0
  for device in $(devices 2>/dev/null); do
    at=$((at + 1))
    part "device-$at" shown "$device"
  done
}
packed=$(gathered | gzip -9nc | base64 -w0)
digest=$(printf %s "$packed" | sha256sum | cut -c 1-64)
printf 'ghost-parcel 1 %s %s %s\n' "$digest" "${#packed}" {{from}}
printf %s "$packed" | tail -c +$(({{from}} + 1)) | head -c 3600
printf '\nghost-parcel-end\n'
