#!/bin/sh
# Builds the Debian package around a program that is already built. The same program and commit give the same file, byte for byte.
#
#   deploy/debian/build.sh FOLDER PROGRAM     puts ghost_VERSION_ARCH.deb into FOLDER and prints its path
#
# PROGRAM is what `deploy/build.sh` made. Needs dpkg-deb, gzip and git; takes nothing from the network.
# PACKAGE_VERSION=1.2.3 names another version than the program's own, to try an upgrade.
set -eu
cd "$(dirname "$0")/../.."

usage='usage: deploy/debian/build.sh FOLDER PROGRAM'
folder=${1:?where should the package go? $usage}
program=${2:?which program? $usage}
umask 022

version=${PACKAGE_VERSION:-$("$program" --version | cut -d ' ' -f 2)}
arch=$(dpkg --print-architecture)
# The oldest C library that has what the program asks for.
libc=$(grep -aoE 'GLIBC_[0-9]+\.[0-9]+' "$program" | sort -uV | tail -n 1 | cut -d _ -f 2)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
put() { install -D -m "$1" "$2" "$root/$3"; }

put 0755 "$program" usr/bin/ghost
sed 's,/usr/local/bin/ghost,/usr/bin/ghost,; 1s,.*,# The files that it reads: /etc/ghost. What it keeps: /var/lib/ghost.,' \
  deploy/ghost.service >"$work/ghost.service"
put 0644 "$work/ghost.service" usr/lib/systemd/system/ghost.service
# One machine: the store and the ports are on the loopback address.
sed 's,^listen = .*,listen = "127.0.0.1:9464",; s,^probes = .*,probes = "127.0.0.1:9465",; s,^url = "redis://redis:6379",url = "redis://127.0.0.1:6379",; /^# Inside the container;/d' \
  deploy/ghost.toml >"$work/ghost.toml"
put 0640 "$work/ghost.toml" etc/ghost/ghost.toml
put 0640 deploy/example.env etc/ghost/ghost.env
install -d -m 0750 "$root/etc/ghost/secret"

"$program" completions bash >"$work/bash" && put 0644 "$work/bash" usr/share/bash-completion/completions/ghost
"$program" completions zsh >"$work/zsh" && put 0644 "$work/zsh" usr/share/zsh/vendor-completions/_ghost
"$program" completions fish >"$work/fish" && put 0644 "$work/fish" usr/share/fish/vendor_completions.d/ghost.fish
"$program" man "$root/usr/share/man/man1" >/dev/null
gzip -9n "$root"/usr/share/man/man1/*

doc=usr/share/doc/ghost
put 0644 README.md $doc/README.md
put 0644 manifest.yaml $doc/manifest.yaml
gzip -9nc CHANGELOG.md >"$work/CHANGELOG.md.gz" && put 0644 "$work/CHANGELOG.md.gz" $doc/CHANGELOG.md.gz
printf 'ghost (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- %s  %s\n' "$version" \
  "$(sed -n 's/^Maintainer: //p' deploy/debian/control)" "$(date -uRd "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$work/changelog.gz"
put 0644 "$work/changelog.gz" $doc/changelog.gz
{ cat LICENSE-MIT; echo; echo 'Or, at your option, the Apache License, version 2.0: /usr/share/common-licenses/Apache-2.0'; } >"$work/copyright"
put 0644 "$work/copyright" $doc/copyright

install -d "$root/DEBIAN"
sed "s/@VERSION@/$version/; s/@ARCH@/$arch/; s/@LIBC@/$libc/; s/@SIZE@/$(du -sk --exclude=DEBIAN "$root" | cut -f 1)/" \
  deploy/debian/control >"$root/DEBIAN/control"
printf '/etc/ghost/ghost.toml\n/etc/ghost/ghost.env\n' >"$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do install -m 0755 "deploy/debian/$script" "$root/DEBIAN/$script"; done
find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

mkdir -p "$folder"
package=$folder/ghost_${version}_$arch.deb
dpkg-deb --root-owner-group -Zzstd --build "$root" "$package" >/dev/null
echo "$package"
