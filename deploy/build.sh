#!/bin/sh
# Builds the production program, which holds no emulator, and tries it. The Dockerfile and CI call this same script; neither has steps of its own.
#
#   deploy/build.sh FOLDER             a release build, put into FOLDER as `ghost`
#   deploy/build.sh FOLDER PROFILE     the same with another cargo profile, `dev` for instance
#
# TARGET=aarch64-unknown-linux-gnu compiles for another machine, as Rust calls it; the program has to run on this one.
# Needs a Rust toolchain and a C compiler. Takes nothing from the network but the crates that Cargo.lock names.
set -eu
cd "$(dirname "$0")/.."

folder=${1:?where should the program go? usage: deploy/build.sh FOLDER [PROFILE]}
profile=${2:-release}

cargo build --locked --profile "$profile" --package ghost-agent --bin ghost --no-default-features --features plot \
  ${TARGET:+--target "$TARGET"}

case "$profile" in
  dev) built=debug ;;
  *) built=$profile ;;
esac
mkdir -p "$folder"
install -m 0755 "${CARGO_TARGET_DIR:-target}/${TARGET:+$TARGET/}$built/ghost" "$folder/ghost"

# A program that does not start, or whose policy fails its own examples, is not worth an image.
"$folder/ghost" --version
"$folder/ghost" shell policy ip >/dev/null
[ "$("$folder/ghost" shell classify 'ip route' | head -n 1 | cut -c 1-4)" = SAFE ]

# Nor is one that holds the emulator: it can be asked for by nobody, and no symbol of it is there.
if "$folder/ghost" --help | grep -qw lab || grep -aqE 'ghost_lab|ghost_lab_slack' "$folder/ghost"; then
  echo "the production program knows the lab" >&2
  exit 1
fi
echo "$folder/ghost"
