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
page() {
  # Nobody else is asked: a page of another machine may do something.
  case $(ip -j address show) in
    *'"local":"{{host}}"'*) ;;
    *) echo 'that is no address of this machine' >&2; return 66 ;;
  esac
  case {{host}} in
    *:*) url={{scheme}}://[{{host}}]:{{port}}{{path}} ;;
    *) url={{scheme}}://{{host}}:{{port}}{{path}} ;;
  esac
  status=$(curl -q -g -s -k -m 5 --noproxy '*' -o /dev/null -w '%{http_code}' "$url"); ended=$?
  printf '%s %s %s\n' "$url" "$status" "$ended"
}
gathered() {
  if command -v curl >/dev/null 2>&1; then part page page; else part page curl; fi
}
packed=$(gathered | gzip -9nc | base64 -w0)
digest=$(printf %s "$packed" | sha256sum | cut -c 1-64)
printf 'ghost-parcel 1 %s %s %s\n' "$digest" "${#packed}" {{from}}
printf %s "$packed" | tail -c +$(({{from}} + 1)) | head -c 3600
printf '\nghost-parcel-end\n'
