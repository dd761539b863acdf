#!/bin/sh
# @cosmjs/encoding beside a newer @scure/base, which its own range takes, refuses every address of every chain of the Cosmos.
#
# @cosmjs/encoding 0.39.0 asks for @scure/base ^2.0.0, and `fromBech32(address)` hands its own default, a limit of Infinity, on to it. Up to
# 2.2.0 @scure/base takes that; 2.3.0 and 2.4.0 throw "limit: expected safe integer, got Infinity" for it (cosmos/cosmjs issue 1982). A
# program that decides by `try { fromBech32(a) }` says no to each valid withdrawal address after its lockfile was written anew, and no type,
# peer or engine says so. `fromBech32(address, 90)` works with each of them, and `toBech32` too.
#
# Needs Node 20 and npm. It installs nothing outside of its temporary folder.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat > look.cjs <<'LOOK'
const { fromBech32, toBech32 } = require('@cosmjs/encoding')
const address = toBech32('cosmos', new Uint8Array(20).fill(7))
const outcomeOf = (ask) => {
  try {
    return ask().data.length + ' bytes'
  } catch (error) {
    return error.message
  }
}
console.log([outcomeOf(() => fromBech32(address)), outcomeOf(() => fromBech32(address, 90))].join(' | '))
LOOK

for base in 2.2.0 2.4.0; do
  mkdir "$base"
  cp look.cjs "$base"
  echo '{ "private": true }' > "$base/package.json"
  (cd "$base" && npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @cosmjs/encoding@0.39.0 "@scure/base@$base" >/dev/null 2>&1) ||
    { echo "@cosmjs/encoding 0.39.0 or @scure/base $base is not to be had any more" >&2; exit 1; }
  seen=$(node "$base/look.cjs")
  case $base in
    2.2.0) expected='20 bytes | 20 bytes' ;;
    *) expected='limit: expected safe integer, got Infinity | 20 bytes' ;;
  esac
  echo "@scure/base $base, without and with a limit: $seen"
  [ "$seen" = "$expected" ] || { echo "expected $expected" >&2; exit 1; }
done
# Seen: 20 bytes | 20 bytes, then: limit: expected safe integer, got Infinity | 20 bytes.
