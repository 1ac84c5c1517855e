#!/bin/sh
# Installs the program of a release: downloads the archive for this machine, checks it against SHA256SUMS, unpacks it.
#
#   install.sh [--version X.Y.Z] [--prefix DIR] [--from PLACE]
#   install.sh --uninstall [--prefix DIR]
#
#   --version   which release; the one that this script belongs to, unless it was taken from elsewhere
#   --prefix    below which bin/ and share/ lie: /usr/local for root, ~/.local otherwise
#   --from      an address, or a folder on this machine, that holds the archives and SHA256SUMS
#
# Needs tar, gzip and sha256sum, and curl for an address. Changes nothing before the checksum agrees. It installs the program alone: a bot with
# its unit comes with the Debian package, see docs/operations/install.md.
set -eu
# The release workflow writes both.
version=@VERSION@
from=@RELEASES@
fail() { echo "install.sh: $*" >&2; exit 1; }
usage() { sed -n '2,12s/^# \{0,1\}//p' "$0"; }

prefix=
uninstall=
while [ $# -gt 0 ]; do
  case $1 in
    --version | --prefix | --from)
      [ $# -ge 2 ] || fail "$1 needs a value"
      case $1 in
        --version) version=$2 ;;
        --prefix) prefix=$2 ;;
        --from) from=$2 ;;
      esac
      shift 2
      ;;
    --uninstall) uninstall=1; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; fail "no such option: $1" ;;
  esac
done
if [ -z "$prefix" ]; then
  if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
fi
list=$prefix/share/ghost/installed-files

# Removes what this script installed, and nothing else.
remove() {
  while IFS= read -r file; do
    case $file in /* | *..*) fail "$list is damaged: $file" ;; esac
    rm -f -- "$prefix/$file"
  done <"$list"
  rm -f -- "$list"
  rmdir -- "$prefix/share/ghost" 2>/dev/null || true
}
if [ -n "$uninstall" ]; then
  [ -e "$list" ] || fail "nothing of it is installed below $prefix"
  remove
  echo "removed from $prefix; what the program wrote (audit, evidence, settings) is kept"
  exit 0
fi

case $version in @*) fail "which release? --version X.Y.Z" ;; esac
case $from in @*) fail "where from? --from ADDRESS or FOLDER" ;; esac
version=${version#v}
[ "$(uname -s)" = Linux ] || fail "it runs on Linux alone: the sandbox needs Landlock and seccomp"
case $(uname -m) in
  x86_64 | amd64) cpu=x86_64 ;;
  aarch64 | arm64) cpu=aarch64 ;;
  *) fail "there is no program for $(uname -m); cargo install --path . compiles one" ;;
esac
# A static program where there is no GNU C library, or one that is older than that of the release.
libc=musl
found=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc 2\.\([0-9]*\).*/\1/p') || found=
if [ -n "$found" ] && [ "$found" -ge 35 ]; then libc=gnu; fi
name=ghost-$version-$cpu-unknown-linux-$libc

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch() {
  case $from in
    http://* | https://*) curl --fail --silent --show-error --location --proto '=https,http' --output "$work/$1" "$from/$1" || fail "$from/$1 cannot be fetched" ;;
    *) cp -- "$from/$1" "$work/$1" || fail "$from/$1 is not there" ;;
  esac
}
fetch SHA256SUMS
fetch "$name.tar.gz"
wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
[ -n "$wanted" ] || fail "SHA256SUMS does not name $name.tar.gz"
[ "$(sha256sum "$work/$name.tar.gz" | cut -d ' ' -f 1)" = "$wanted" ] || fail "the checksum of $name.tar.gz is another one: nothing was installed"

tar -xzf "$work/$name.tar.gz" -C "$work"
"$work/$name/bin/ghost" --version >/dev/null || fail "the program does not start on this machine: nothing was installed"
if [ -e "$list" ]; then remove; fi
mkdir -p "$prefix"
# The program last, and by a rename: one that runs keeps its file, and nobody starts half of one.
(cd "$work/$name" && find . -type f | sed 's,^\./,,' | LC_ALL=C sort) >"$work/files"
while IFS= read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  cp -- "$work/$name/$file" "$prefix/$file.new"
  mv -f -- "$prefix/$file.new" "$prefix/$file"
done <"$work/files"
mkdir -p "$prefix/share/ghost"
cp "$work/files" "$list"
echo "installed $("$prefix/bin/ghost" --version) below $prefix"
case ":$PATH:" in *":$prefix/bin:"*) ;; *) echo "add $prefix/bin to PATH" ;; esac
