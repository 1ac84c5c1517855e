#!/usr/bin/env bash
# Builds the image with buildah, around a program that is already built. The same program, commit and packages give the same digest.
#
#   deploy/image.sh NAME PROGRAM [FOLDER]    tags it NAME, prints its digest, and writes it into FOLDER as an OCI layout
#
# PROGRAM is what `deploy/build.sh` made. Needs buildah and git; no daemon, and no privilege where buildah needs none.
#   AZURE_CLI=2.91.0         the variant with the Azure command line (and with a shell)
#   PIP_CERT=FILE            the certificates that pip trusts while it is built, behind a proxy that opens TLS; they do not get into the image
#   PULL=never               the base images are there already, and nothing may be pulled
#   BUILDAH_ISOLATION, STORAGE_DRIVER   are buildah's own
set -euo pipefail
cd "$(dirname "$0")/.."
usage='usage: deploy/image.sh NAME PROGRAM [FOLDER]'
name=${1:?$usage}
program=${2:?$usage}
folder=${3:-}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
# The image's own files are the whole context: neither secrets nor anything that changes between builds can get in.
install -D -m 0755 "$program" "$context/deploy/program/ghost"
install -D -m 0644 deploy/image-files.sh "$context/deploy/image-files.sh"
commit=$(git rev-parse HEAD)
secrets=()
if [ -s "${PIP_CERT:-}" ]; then secrets=(--secret "id=certificates,src=$PIP_CERT"); fi
buildah bud --quiet --layers=false --timestamp "$SOURCE_DATE_EPOCH" ${PULL:+--pull-$PULL} \
  --build-arg "AZURE_CLI=${AZURE_CLI:-}" "${secrets[@]}" \
  --label org.opencontainers.image.title=ghost \
  --label "org.opencontainers.image.version=$("$program" --version | cut -d ' ' -f 2)" \
  --label "org.opencontainers.image.revision=$commit" \
  --label "org.opencontainers.image.licenses=Apache-2.0 OR MIT" \
  --file deploy/Dockerfile --tag "$name" "$context" >"$context/id"
target=${folder:-$context/oci}
rm -rf "$target"
buildah push --quiet "$name" "oci:$target:$(basename "${name//:/-}")" 2>/dev/null
python3 -c 'import json, sys; print(json.load(open(sys.argv[1] + "/index.json"))["manifests"][0]["digest"])' "$target"
