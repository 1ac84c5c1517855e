#!/bin/sh
# The last step of the image's files, run inside the image while it is built: the user, the folders, and everything taken away that the bot does not use.
#
#   image-files.sh [VERSION-OF-AZ]     with a version the shells stay: `az` is a script
set -eu
# What follows empties folders of the system it runs in: on a machine instead of inside the image it would ruin that.
if [ "$0" != /image-files.sh ]; then
  echo "error: $0 runs inside the image alone, as /image-files.sh" >&2
  echo "hint: deploy/image.sh builds the image" >&2
  exit 2
fi
az=${1:-}

# Numbers of its own, and no day of its last change: the same files each time.
echo 'ghost:x:10001:' >>/etc/group
echo 'ghost:x:10001:10001::/var/lib/ghost:/usr/sbin/nologin' >>/etc/passwd
install -d -o 10001 -g 10001 -m 0700 /var/lib/ghost
install -d -m 0755 /etc/ghost

# Nobody becomes root by starting a program. File capabilities count here, too: a program that carries some cannot even start
# once the container has none. A copy has none; `ping` then uses the sockets that `net.ipv4.ping_group_range` opens.
find / -xdev -type f -perm /6000 -exec chmod a-s {} +
for program in /usr/bin/ping /usr/bin/mtr-packet; do
  if [ -e "$program" ]; then cp "$program" "$program.copy" && mv "$program.copy" "$program" && chmod 0755 "$program"; fi
done

# What differs from one build to the next, and what nobody reads in here.
rm -rf /var/log/* /var/cache/* /var/lib/apt/* /usr/share/doc/* /usr/share/man/* /usr/share/info/* /tmp/* \
  /etc/machine-id /var/lib/dbus /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- \
  /etc/passwd- /etc/group- /etc/subuid- /etc/subgid- /etc/.pwd.lock
find /root -mindepth 1 -delete
find / -xdev -name __pycache__ -prune -exec rm -rf {} +
rm -f /image-files.sh

if [ -z "$az" ]; then
  # Without `az` nothing in here needs a shell, a package manager or an interpreter. The list of packages stays, for whoever scans the image.
  rm -f /usr/bin/apt* /usr/bin/dpkg* /usr/sbin/dpkg* /usr/bin/perl* /usr/bin/debconf* /usr/sbin/update-* /usr/bin/update-alternatives /usr/bin/deb-systemd-*
  rm -rf /usr/lib/apt /usr/share/perl* /usr/lib/*/perl* /var/lib/dpkg/info /usr/share/debconf
  # The last: from here on nothing can be started that is not a program of its own.
  rm -f /usr/bin/bash /usr/bin/rbash /usr/bin/dash /usr/bin/sh
fi
