export LC_ALL=C PATH="${PATH:-/bin}:/usr/sbin:/sbin:/usr/bin:/bin"
set -f
line='
'
IFS=$line
root=
if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null 2>&1 && sudo -n -l nft -j list ruleset >/dev/null 2>&1; then root=yes; fi
as_root() { if [ -n "$root" ]; then sudo -n "$@" || "$@"; else "$@"; fi; }
part() {
  name=$1; shift
  program=$1
  if [ "$program" = as_root ]; then program=$2; fi
  if ! command -v "$program" >/dev/null 2>&1; then out="$program is not installed"; code=127
  else
    out=$("$@" 2>/dev/null); code=$?
    if [ "$code" != 0 ]; then out=$("$@" 2>&1 >/dev/null | head -n 5); fi
  fi
  case $out in *[![:print:][:space:]]*) out=$(printf '%s\n' "$out" | tr -cd '\11\12\40-\176') ;; esac
  if [ "${#out}" -gt 400000 ]; then out="it is longer than 400000 bytes"; code=75; fi
  printf 'section %s %s %s\n%s\n' "$name" "$code" "${#out}" "$out"
}
there() { for file in "$@"; do if [ -e "$file" ]; then cat "$file" || return $?; fi; done; }
about() {
  echo "name $(uname -n)"
  echo "kernel $(uname -sr)"
  echo "uid $(id -u)"
  echo "sudo ${root:-no}"
  echo "time $(date -u +%s)"
  echo "up $(cut -d ' ' -f 1 /proc/uptime)"
}
counters() { there /proc/net/snmp /proc/net/netstat /proc/net/snmp6; }
conntrack_counts() {
  if [ -e /proc/sys/net/netfilter/nf_conntrack_count ]; then
    echo "count=$(cat /proc/sys/net/netfilter/nf_conntrack_count) max=$(cat /proc/sys/net/netfilter/nf_conntrack_max)"
    there /proc/net/stat/nf_conntrack
  fi
}
shaping() {
  all=$(tc -s qdisc show) || return $?
  printf '%s\n' "$all"
  for device in $(printf '%s\n' "$all" | sed -n 's/^qdisc \(htb\|hfsc\|drr\|cbq\) [^ ]* dev \([^ ]*\) .*/\2/p' | sort -u); do
    tc -s class show dev "$device" | sed "s/^\(class [^ ]* [^ ]*\) /\1 dev $device /"
  done
  for device in $(printf '%s\n' "$all" | sed -n 's/^qdisc \(clsact\|ingress\|prio\|ets\|htb\|hfsc\|drr\|qfq\|cbq\) [^ ]* dev \([^ ]*\) .*/\2/p' | sort -u); do
    own=$(tc filter show dev "$device") || continue
    printf '%s\n' "$own" | sed "s/^filter /filter dev $device /"
    tc filter show dev "$device" ingress 2>/dev/null | sed "s/^filter /filter dev $device parent ffff:fff2 /"
    tc filter show dev "$device" egress 2>/dev/null | sed "s/^filter /filter dev $device parent ffff:fff3 /"
    echo "filters dev $device"
  done
  true
}
moving() {
  part "counters$1" counters
  part "links$1" ip -j -s -s -d link show
  if command -v tc >/dev/null 2>&1; then part "qdiscs$1" shaping; else part "qdiscs$1" tc; fi
  part "softnet$1" there /proc/net/softnet_stat
  part "conntrack$1" conntrack_counts
}
routes() {
  if [ "$1" = -6 ] && [ ! -e /proc/net/if_inet6 ]; then echo '[]'; return; fi
  ip -j "$@"
}
connections() { all=$(ss -HtinaoemO) || return $?; printf '%s\n' "$all" | grep -v '^LISTEN' | head -n 4000 | head -c 390000; true; }
listeners() { as_root ss -Hltunp; }
settings() {
  sysctl -a 2>/dev/null | grep -E '^net\.(ipv4\.(ip_forward|conf\.[^ ]*\.(rp_filter|forwarding|arp_ignore|arp_announce|arp_filter|proxy_arp|accept_local|log_martians)|tcp_(rmem|wmem|mem|syncookies|max_syn_backlog|max_tw_buckets|tw_reuse|timestamps|window_scaling|sack|mtu_probing|congestion_control|fin_timeout|max_orphans|ecn)|ip_local_port_range|ip_local_reserved_ports|ip_no_pmtu_disc|ip_nonlocal_bind|icmp_ratelimit|icmp_echo_ignore_all|fib_multipath_hash_policy|neigh\.default\.gc_thresh[123])|ipv6\.conf\.[^ ]*\.(disable_ipv6|forwarding|accept_ra)|core\.(somaxconn|rmem_max|wmem_max|netdev_max_backlog|default_qdisc)|netfilter\.nf_conntrack_(max|buckets|tcp_loose|tcp_timeout_established)) '
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
      part "filter-$tool-$kind" as_root "$save" -c
    done
  done
}
chosen() { update-alternatives --query iptables 2>/dev/null || alternatives --display iptables 2>/dev/null; iptables --version 2>/dev/null; true; }
servers() { sed -n 's/^nameserver[[:space:]][[:space:]]*\([^ %]*\).*/\1/p' /etc/resolv.conf 2>/dev/null | head -n 3; }
answers() {
  all={{names}}
  IFS=/
  set -- $all
  IFS=$line
  for server in $(servers); do
    for name in "$@"; do
      echo "ask $server $name"
      dig +time=2 +tries=1 "@$server" "$name" "$([ "$name" = . ] && echo NS || echo A)" 2>&1
    done
  done
  true
}
proxy() {
  printf 'http_proxy=%s\nhttps_proxy=%s\nno_proxy=%s\n' "${http_proxy:-}" "${https_proxy:-}" "${no_proxy:-}" | grep -v '=$' | sed 's#//[^/@]*@#//#'
  there /etc/environment | grep -iE '^(export )?[a-z]*_proxy=' | sed 's#//[^/@]*@#//#'
  true
}
timely() {
  if ! command -v timeout >/dev/null 2>&1; then "$@"; return $?; fi
  timeout 5 "$@"; ended=$?
  if [ "$ended" = 124 ]; then echo "$1 did not answer within 5 seconds" >&2; fi
  return "$ended"
}
kernel_log() {
  # A network of its own beside the machine's shares its kernel's log: whose devices it speaks of is not known.
  if [ -n "$instance" ]; then return; fi
  all=$(as_root dmesg --level emerg,alert,crit,err,warn) || return $?
  printf '%s\n' "$all" | grep -iE 'link|eth|en[ops][0-9]|wlan|bond|conntrack|martian|duplicate|neigh|flood|net|tcp|udp|out of memory|oom' | tail -n 200
  true
}
units() { if [ -d /run/systemd/system ]; then systemctl --failed --no-pager --plain --no-legend; fi; }
clock() { if [ -d /run/systemd/system ]; then timedatectl show -p NTP -p NTPSynchronized; fi; }
serving() {
  # Whoever listens, and the daemons that make a network: of these the log is read.
  for process in $(listeners 2>/dev/null | grep -o 'pid=[0-9]*' | sort -u | head -n 100); do
    sed -n 's#^[0-9]*:\(name=systemd\)\{0,1\}:.*/\([A-Za-z0-9@._-]*\.service\)$#\2#p' "/proc/${process#pid=}/cgroup" 2>/dev/null
  done
  units 2>/dev/null | grep -o '[A-Za-z0-9@._-]*\.\(service\|socket\|mount\|target\)'
  for daemon in NetworkManager systemd-networkd systemd-resolved networking dhcpcd wpa_supplicant dnsmasq named unbound frr bird keepalived haproxy nginx \
    apache2 httpd squid strongswan ssh sshd docker containerd crio kubelet firewalld ufw nftables iptables netfilter-persistent chrony chronyd systemd-timesyncd; do
    echo "$daemon.service"
  done
}
unit_log() {
  if [ -n "$instance" ]; then return; fi
  set -- --system -q --no-pager -p warning -n 2000 -o json --output-fields=_SYSTEMD_UNIT,UNIT,MESSAGE
  all=
  if [ -n "$root" ]; then all=$(timely sudo -n journalctl "$@"); fi || all=
  if [ -z "$all" ]; then all=$(timely journalctl "$@") || return $?; fi
  affected=$(serving | sort -u | sed 's/\./\\./g' | tr '\n' '|')
  printf '%s\n' "$all" | grep -E "\"(_SYSTEMD_)?UNIT\":\"(${affected%|})\"" | tail -n 200 | tail -c 390000
  true
}
fields() {
  tr '{}[],' '\n\n\n\n\n' | sed -n "s#^[[:space:]]*\"\($1\)\"[[:space:]]*:[[:space:]]*\"\{0,1\}\([A-Za-z0-9_.:/-]*\)\"\{0,1\}[[:space:]]*\$#\1=\2#p" | head -n 4000
}
docker_asked() {
  # The engine of this machine, whatever other one its user is set up for.
  set -- -H unix:///run/docker.sock "$@"
  if [ -n "$root" ]; then timely sudo -n docker "$@" || timely docker "$@"; else timely docker "$@"; fi
}
docker_networks() {
  if [ -n "$instance" ] || ! [ -S /run/docker.sock ]; then return; fi
  all=$(docker_asked network ls -q --no-trunc) || return $?
  all=$(docker_asked network inspect $all) || return $?
  printf '%s\n' "$all" | fields 'Name\|Id\|Driver\|Subnet\|EndpointID\|IPv4Address\|IPv6Address\|com\.docker\.network\.bridge\.name'
}
may_read() { if ! [ -r "$1" ]; then echo "$1 may not be read" >&2; return 13; fi; }
network_files() {
  kept=$1; shift
  for file in "$@"; do
    if ! [ -f "$file" ]; then continue; fi
    all=$(head -c 100000 "$file") || return $?
    echo "file ${file##*/}"
    printf '%s\n' "$all" | fields "$kept"
  done
}
podman_networks() {
  if [ -n "$instance" ] || ! [ -d /etc/containers/networks ]; then return; fi
  may_read /etc/containers/networks || return $?
  set +f
  network_files 'name\|driver\|network_interface\|subnet' /etc/containers/networks/*.json
}
cni_networks() {
  if [ -n "$instance" ] || ! [ -d /etc/cni/net.d ]; then return; fi
  may_read /etc/cni/net.d || return $?
  set +f
  network_files 'name\|type\|bridge\|subnet' /etc/cni/net.d/*.conflist /etc/cni/net.d/*.conf || return $?
  for file in /var/lib/cni/networks/*/*; do
    given=${file##*/} file=${file%/*}
    case $given in *[!0-9a-f.:]*|lock) ;; *) echo "given ${file##*/} $given" ;; esac
  done | head -n 2000
}
processes() { ps -eo comm= | sort | uniq -c | sort -rn | head -n 300; }
none() { :; }
daemons() {
  if [ -d "$frr" ] && [ -r /proc/net/unix ] && [ -e /etc/frr/daemons ]; then
    all=$(as_root cat /etc/frr/daemons) || return $?
    printf '%s\n' "$all" | sed -n 's/^\([a-z0-9]*\)=yes.*/enabled \1/p'
  fi
  echo "running $speaking"
}
routing() {
  name=$1; speaker=$2; shift 2
  if ! command -v vtysh >/dev/null 2>&1; then part "$name" vtysh; return; fi
  case " $speaking " in *" $speaker "*) part "$name" "$@" ;; *) part "$name" none ;; esac
}
bgp_routes() {
  all=$(asked 'show bgp ipv4 unicast summary json') || return $?
  count=$(printf '%s\n' "$all" | sed -n 's/^ *"ribCount":\([0-9]*\),.*/\1/p' | head -n 1)
  if [ "${count:-0}" -gt 2000 ]; then echo 'there are more than 2000 routes' >&2; return 75; fi
  asked 'show bgp ipv4 unicast json'
}
asked() {
  set -- -c "$1"
  if [ -n "$instance" ]; then set -- -N "$instance" "$@"; fi
  if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1 && getent group frrvty >/dev/null 2>&1; then
    setpriv --regid frrvty --clear-groups vtysh "$@"
  else
    as_root vtysh "$@"
  fi
}
own() {
  # Only of accounts that daemons run as: the words of anybody else's process would name files for us to open.
  ps -eo pid=,user=,comm= | while IFS=' ' read -r pid user name; do
    case $user in root|dnsmasq|nobody|dhcpd|_dhcp|_kea|dhcp) ;; *) continue ;; esac
    case $1 in *" $name "*) if [ "/proc/$pid/net/dev" -ef /proc/self/net/dev ]; then echo "$pid $name"; fi ;; esac
  done
}
words() { tr '\0' '\n' 2>/dev/null <"/proc/$1/cmdline"; }
kept_lease() {
  if [ ! -f "$1" ]; then return; fi
  case "$line$seen" in *"$line$1$line"*) return ;; esac
  seen=$seen$1$line
  all=$(tail -c 60000 "$1") || return $?
  echo "file $1"
  printf '%s\n' "$all" | sed -n '/^lease {$/p;/^}$/p;s/^ *\(interface "[A-Za-z0-9._:@-]*";\)$/\1/p;s/^ *\(\(fixed-address\|option subnet-mask\|option routers\|option domain-name-servers\|option dhcp-server-identifier\|expire\) [0-9a-f.:,/ ]*;\)$/\1/p;s/^\(\(ADDRESS\|NETMASK\|ROUTER\|SERVER_ADDRESS\|DNS\)=[0-9a-f.:/ ]*\)$/\1/p'
}
dhcp_client() {
  seen=
  for process in $(own ' dhclient '); do
    kept= next= asks= six=
    for word in $(words "${process%% *}"); do
      if [ "$next" = kept ]; then kept=$word; next=; continue; fi
      if [ -n "$next" ]; then next=; continue; fi
      case $word in
        -lf) next=kept ;;
        -6) six=yes ;;
        -pf|-sf|-cf|-df|-e|-p|-s|-g|-D|-C|-F|-H|-R|-V|-timeout) next=passed ;;
        -*|*/*|dhclient|*[!A-Za-z0-9._:@-]*) ;;
        *) asks="$asks$word$line" ;;
      esac
    done
    if [ -n "$six" ]; then continue; fi
    for device in $asks; do echo "client dhclient $device"; done
    if [ -n "$kept" ]; then kept_lease "$kept" || return $?; fi
  done
  if [ -n "$instance" ]; then return; fi
  set +f
  for file in /var/lib/dhcp/*.leases /var/lib/dhclient/*.lease* /run/systemd/netif/leases/*; do kept_lease "$file" || return $?; done
  set -f
}
server_words() {
  next=
  for word in $(words "$1"); do
    if [ -n "$next" ]; then echo "$next=$word"; next=; continue; fi
    case $word in
      --*=*) echo "${word#--}" ;;
      --dhcp-range|--dhcp-option|--dhcp-option-force|--dhcp-leasefile|--conf-file|--conf-dir|--interface) next=${word#--} ;;
      -F|-O|-l|-C|-7|-i) next=$(short "$word") ;;
      -F*|-O*|-l*|-C*|-7*|-i*) echo "$(short "$word")=${word#??}" ;;
    esac
  done
}
short() { case $1 in -F*) echo dhcp-range ;; -O*) echo dhcp-option ;; -l*) echo dhcp-leasefile ;; -C*) echo conf-file ;; -7*) echo conf-dir ;; -i*) echo interface ;; esac; }
server_file() { if [ -f "$1" ]; then head -c 200000 "$1"; fi; }
server_settings() {
  given=$(server_words "$1")
  printf '%s\n' "$given"
  files=$(printf '%s\n' "$given" | sed -n 's/^conf-file=//p')
  for file in ${files:-/etc/dnsmasq.conf}; do
    all=$(server_file "$file") || return $?
    given="$given$line$all"
    printf '%s\n' "$all"
  done
  for folder in $(printf '%s\n' "$given" | sed -n 's/^conf-dir=\([^,]*\).*/\1/p'); do
    set +f
    for file in "$folder"/*; do server_file "$file" || return $?; echo; done
    set -f
  done
}
dhcp_server() {
  echo "now $(date -u +%s)"
  for process in $(own ' dnsmasq dhcpd kea-dhcp4 udhcpd '); do
    echo "server ${process#* }"
    if [ "${process#* }" != dnsmasq ]; then continue; fi
    all=$(server_settings "${process%% *}") || return $?
    all=$(printf '%s\n' "$all" | sed -n 's/[[:space:]]#.*//;s/^[[:space:]]*\(dhcp-range\|dhcp-option\|dhcp-option-force\|dhcp-leasefile\|interface\|except-interface\|no-dhcp-interface\)[[:space:]]*=[[:space:]]*/\1=/p')
    printf '%s\n' "$all" | grep -v '^dhcp-leasefile='
    file=$(printf '%s\n' "$all" | sed -n 's/^dhcp-leasefile=//p' | tail -n 1)
    for file in ${file:-/var/lib/misc/dnsmasq.leases$line/var/lib/dnsmasq/dnsmasq.leases}; do
      all=$(server_file "$file") || return $?
      printf '%s\n' "$all" | sed -n 's/^\([0-9][0-9]*\) [0-9a-fA-F:-]* \([0-9.]*\) .*/lease \1 \2/p'
    done
  done
  true
}
wireguard() { as_root wg show all; }
shake() {
  if command -v nc >/dev/null 2>&1; then
    nc -zv -w 2 "$1" "$2" 2>&1 | tail -n 1
  elif command -v curl >/dev/null 2>&1; then
    case $1 in *:*) place="[$1]" ;; *) place=$1 ;; esac
    curl -sS -m 3 -o /dev/null -w 'connected after %{time_connect} s\n' "telnet://$place:$2" 2>&1 </dev/null | tail -n 2 | tr '\n' ' '
  else
    echo 'neither nc nor curl is installed'
  fi
}
probes() {
  all={{to}}
  IFS=/
  set -- $all
  IFS=$line
  for target in "$@"; do
    if [ "$target" = none ]; then continue; fi
    host=${target%:*}
    port=${target##*:}
    echo "to $host $port"
    address=$(getent ahosts "$host" | head -n 1 | cut -d ' ' -f 1)
    if [ -z "$address" ]; then echo "address none"; continue; fi
    echo "address $address"
    echo "route $(ip route get "$address" 2>&1 | head -n 1)"
    echoed=$(ping -n -c 3 -i 0.3 -W 2 "$address" 2>&1)
    printf '%s\n' "$echoed" | sed -n 's/^\(.*packets transmitted.*\)/ping \1/p;s/^\(rtt .*\)/ping \1/p;s/^\(From .*\)/notice \1/p;s/^\(ping: .*\)/notice \1/p'
    case $address in *:*) head=48 ;; *) head=28 ;; esac
    case $echoed in
      *" 0 received"*|ping:*|connect:*) ;;
      *)
        for size in 1500 1420 1280 576; do
          if ping -n -q -M do -c 1 -W 1 -s "$((size - head))" "$address" >/dev/null 2>&1; then echo "passes $size"; break; fi
          echo "lost $size"
        done ;;
    esac
    if [ "$port" != 0 ]; then echo "tcp $(shake "$address" "$port")"; fi
  done
  true
}
awake() {
  silent=
  for gateway in $(ip route show default | sed -n 's/.* via \([^ ]*\) .*/\1/p' | sort -u | head -n 3); do
    ping -n -c 1 -W 1 "$gateway" >/dev/null 2>&1 || silent=$silent$gateway$line
  done
  tries=0
  while [ "$tries" -lt 8 ]; do
    case $(for gateway in $silent; do ip neigh show to "$gateway"; done) in *INCOMPLETE*|*DELAY*|*PROBE*) sleep 1 ;; *) break ;; esac
    tries=$((tries + 1))
  done
  ip -j neigh show
}
gathered() {
  part about about
  moving ''
  part addresses ip -j address show
  part routes routes route show table all
  part routes6 routes -6 route show table all
  part rules routes rule show
  part rules6 routes -6 rule show
  part neighbors ip -j neigh show
  if command -v bridge >/dev/null 2>&1; then part bridge bridge -j -d link show; part fdb bridge -j fdb show; else part bridge bridge; part fdb bridge; fi
  if command -v ss >/dev/null 2>&1; then part listeners listeners; part connections connections; else part listeners ss; part connections ss; fi
  part udp there /proc/net/udp /proc/net/udp6
  if command -v sysctl >/dev/null 2>&1; then part settings settings; else part settings sysctl; fi
  part filter-nft as_root nft -j list ruleset
  backend
  part filter-ipset as_root ipset save
  part filter-alternatives chosen
  part filter-tables there /proc/net/ip_tables_names
  part filter-tables6 there /proc/net/ip6_tables_names
  part resolver there /etc/resolv.conf
  part hosts there /etc/hosts
  part nsswitch there /etc/nsswitch.conf
  if command -v dig >/dev/null 2>&1; then part answers answers; else part answers dig; fi
  part proxy proxy
  instance=$(ip netns identify $$ 2>/dev/null)
  if command -v ps >/dev/null 2>&1; then part dhcp-client dhcp_client; part dhcp-server dhcp_server; else part dhcp-client ps; part dhcp-server ps; fi
  if command -v wg >/dev/null 2>&1; then part wireguard wireguard; else part wireguard wg; fi
  frr=/run/frr${instance:+/$instance}
  speaking=$(sed -n "s#.* 00010000 0001 .*$frr/\([a-z0-9]*\)\.vty\$#\1#p" /proc/net/unix 2>/dev/null | sort -u | tr '\n' ' ')
  if command -v vtysh >/dev/null 2>&1; then part routing daemons; else part routing vtysh; fi
  routing bgp-peers bgpd asked 'show bgp neighbors json'
  routing bgp-routes bgpd bgp_routes
  routing bgp-blackholes bgpd asked 'show bgp ipv4 unicast community blackhole json'
  routing ospf-devices ospfd asked 'show ip ospf interface json'
  routing ospf-neighbors ospfd asked 'show ip ospf neighbor json'
  part kernel-log kernel_log
  part units units
  if command -v journalctl >/dev/null 2>&1; then part unit-log unit_log; else part unit-log journalctl; fi
  if command -v docker >/dev/null 2>&1; then part docker-networks docker_networks; else part docker-networks docker; fi
  part podman-networks podman_networks
  part cni-networks cni_networks
  part processes processes
  part clock clock
  part probes probes
  part neighbors-later awake
  sleep {{seconds}}
  moving -later
}
packed=$(gathered | gzip -9nc | base64 -w0)
digest=$(printf %s "$packed" | sha256sum | cut -c 1-64)
printf 'ghost-parcel 1 %s %s %s\n' "$digest" "${#packed}" 0
printf '%s\nghost-parcel-end\n' "$packed"
