#!/bin/sh
# Builds the program and tries it. The Dockerfile and CI call this same script; neither has steps of its own.
#
#   deploy/build.sh FOLDER             a release build, put into FOLDER as `ghost`
#   deploy/build.sh FOLDER PROFILE     the same with another cargo profile, `dev` for instance
#
# Needs a Rust toolchain and a C compiler. Takes nothing from the network but the crates that Cargo.lock names.
set -eu
cd "$(dirname "$0")/.."

folder=${1:?where should the program go? usage: deploy/build.sh FOLDER [PROFILE]}
profile=${2:-release}

cargo build --locked --profile "$profile" --bin ghost

case "$profile" in
  dev) built=debug ;;
  *) built=$profile ;;
esac
mkdir -p "$folder"
install -m 0755 "${CARGO_TARGET_DIR:-target}/$built/ghost" "$folder/ghost"

# A program that does not start, or whose policy fails its own examples, is not worth an image.
"$folder/ghost" --version
[ "$("$folder/ghost" shell classify 'ip route' | head -n 1 | cut -c 1-4)" = SAFE ]
echo "$folder/ghost"
