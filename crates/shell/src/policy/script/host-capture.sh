export LC_ALL=C PATH="${PATH:-/bin}:/usr/sbin:/sbin:/usr/bin:/bin"
set -f
umask 077
folder=$(mktemp -d /tmp/ghost-capture.XXXXXXXX) || exit 1
trap 'rm -f "$folder/said" "$folder/packets"; rmdir "$folder"' EXIT
trap 'exit 1' HUP INT TERM
part() { printf 'section %s %s %s\n%s\n' "$1" "$2" "${#3}" "$3"; }
chosen() {
  if ! command -v tcpdump >/dev/null 2>&1; then echo 'tcpdump is not installed' >&2; return 127; fi
  limited="timeout -s INT {{seconds}} tcpdump"
  root=
  if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null 2>&1 && sudo -n -l $limited >/dev/null 2>&1; then root='sudo -n'; fi
  wanted=
  if [ {{protocol}} != any ]; then wanted={{protocol}}; fi
  if [ {{host}} != any ]; then wanted="$wanted${wanted:+ and }host {{host}}"; fi
  if [ {{port}} != 0 ]; then wanted="$wanted${wanted:+ and }port {{port}}"; fi
  $root $limited -n -U -i {{device}} -s {{bytes}} -c 20000 -w - $wanted
}
chosen 2>"$folder/said" </dev/null | head -c 2000000 >"$folder/packets"
gathered() {
  said=$(tr -cd '\11\12\40-\176' <"$folder/said" | tail -n 8)
  packets=$(base64 -w0 <"$folder/packets")
  part said 0 "$said"
  part packets 0 "$packets"
}
packed=$(gathered | gzip -6nc | base64 -w0)
digest=$(printf %s "$packed" | sha256sum | cut -c 1-64)
printf 'ghost-parcel 1 %s %s %s\n' "$digest" "${#packed}" 0
printf '%s\nghost-parcel-end\n' "$packed"
