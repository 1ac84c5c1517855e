#!/bin/sh
# Gathers the packet filters of this host, both families and all backends, and prints them as one JSON object.
# It changes nothing and writes no file. Run it as root:
#   sh collect.sh > "$(hostname).json"
export LC_ALL=C PATH="${PATH:-/bin}:/usr/sbin:/sbin:/usr/bin:/bin"

if [ "$(id -u)" != 0 ]; then
    echo "collect: only root can read packet filters" >&2
    exit 1
fi

tab=$(printf '\t')
return=$(printf '\r')

# What is no UTF-8 is left out, where there is a tool for that.
clean() {
    if command -v iconv >/dev/null 2>&1; then iconv -c -f UTF-8 -t UTF-8; else cat; fi
}

# A text becomes the inside of a JSON string; other control characters are left out.
quoted() {
    clean | tr -d '\000-\010\013\014\016-\037\177' |
        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e "s/$tab/\\\\t/g" -e "s/$return/\\\\r/g" -e 's/$/\\n/' |
        tr -d '\n'
}

separator='{'

text() {
    printf '%s\n"%s": "' "$separator" "$1"
    if [ -n "$2" ]; then printf '%s\n' "$2" | quoted; fi
    printf '"'
    separator=','
}

failed() {
    printf '%s\n"%s": {"error": "' "$separator" "$1"
    printf '%s\n' "$2" | cut -c 1-300 | quoted
    printf '"}'
    separator=','
}

# source NAME COMMAND...: what the command prints, or why it failed.
source_of() {
    name=$1
    shift
    if ! command -v "$1" >/dev/null 2>&1; then
        failed "$name" "$1 is not installed"
    elif out=$("$@" 2>/dev/null); then
        text "$name" "$out"
    else
        failed "$name" "$("$@" 2>&1 >/dev/null | head -n 5)"
    fi
}

# Before there were two backends, `iptables` alone was the old one.
for tool in iptables ip6tables; do
    version=$("$tool" --version 2>/dev/null)
    for backend in legacy nft; do
        command=$tool-$backend-save
        if ! command -v "$command" >/dev/null 2>&1; then
            case "$backend $version" in
                "nft "*nf_tables*) command=$tool-save ;;
                "legacy "*nf_tables*) ;;
                "legacy $tool v"*) command=$tool-save ;;
            esac
        fi
        source_of "$tool-$backend" "$command" -c
    done
done
source_of nft nft -j list ruleset
source_of ipset ipset save

chosen=$( (update-alternatives --query iptables || alternatives --display iptables) 2>/dev/null)
text alternatives "$chosen
$(iptables --version 2>/dev/null)"

# Where the file is missing the old backend is not loaded: it has no tables.
for pair in tables:ip_tables_names tables6:ip6_tables_names; do
    file=/proc/net/${pair#*:}
    if [ ! -e "$file" ]; then
        text "${pair%%:*}" ""
    elif out=$(cat "$file" 2>/dev/null); then
        text "${pair%%:*}" "$out"
    else
        failed "${pair%%:*}" "$file cannot be read"
    fi
done
printf '\n}\n'
