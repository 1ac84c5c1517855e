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
saved() {
  tool=$1; shift
  all=$("$tool" "$@") || return $?
  printf '%s\n' "$all" | sed -e '/^# /s/ on [A-Z].*$//' -e 's/^\(:[^ ]* [^ ]*\) \[.*\]$/\1 [0:0]/'
}
backend() {
  for tool in iptables ip6tables; do
    version=$("$tool" --version 2>/dev/null)
    for kind in legacy nft; do
      save=$tool-$kind-save
      if ! command -v "$save" >/dev/null 2>&1; then
        case "$kind $version" in
          "nft "*nf_tables*) save=$tool-save ;;
          "legacy "*nf_tables*) ;;
          "legacy $tool v"*) save=$tool-save ;;
        esac
      fi
      if command -v "$save" >/dev/null 2>&1; then part "filter-$tool-$kind" saved "$save"; else part "filter-$tool-$kind" "$save"; fi
    done
  done
}
ruleset() { nft -j -s list ruleset; }
chosen() { update-alternatives --query iptables 2>/dev/null || alternatives --display iptables 2>/dev/null; iptables --version 2>/dev/null; true; }
tables() { if [ -e "/proc/net/$1" ]; then cat "/proc/net/$1"; fi; }
devices() { all=$(tc qdisc show) || return $?; printf '%s\n' "$all" | sed -n 's/^qdisc [^ ]* [^ ]* dev \([^ ]*\) .*/\1/p' | uniq; }
shown() {
  for object in qdisc class filter; do
    tc -j "$object" show dev "$1" 2>/dev/null || tc "$object" show dev "$1" || return $?
    echo
  done
  tc filter show dev "$1" ingress 2>/dev/null | sed "s/^filter /filter dev $1 parent ffff:fff2 /"
  tc filter show dev "$1" egress 2>/dev/null | sed "s/^filter /filter dev $1 parent ffff:fff3 /"
  echo "filters dev $1"
}
settings() { sysctl -a 2>/dev/null | grep -E '^net\.(ipv4\.(ip_forward|conf\.[^ ]*\.rp_filter)|ipv6\.conf\.all\.forwarding) '; }
connections() { all=$(ss -tan) || return $?; printf '%s\n' "$all" | sed 1d | grep -v '^LISTEN' | tr -s ' ' | cut -d ' ' -f 1,5 | sort | uniq -c | sort -rn | head -n 200; true; }
gathered() {
  part tcp ss -tlnp
  part udp ss -ulnp
  part connections connections
  part addresses ip -j address show
  part routes ip -j route show
  part routes6 ip -6 -j route show
  part rules ip rule show
  part settings settings
  backend
  if command -v nft >/dev/null 2>&1; then part filter-nft ruleset; else part filter-nft nft; fi
  part filter-ipset ipset save
  part filter-alternatives chosen
  part filter-tables tables ip_tables_names
  part filter-tables6 tables ip6_tables_names
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
