#!/bin/sh
# A minor version of a package of data takes the data away: @ledgerhq/cryptoassets has no tokens any more, and no install says so.
#
# 13.33.0 has 439 files of tokens (lib/data, 34 MB packed). 13.40.0 has none (178 kB): Ledger's
# programs ask its service for each token. `^13.33.0` takes it. The coins of chains stay, under the same names, so that a program which
# reads both finds half of them and no error. Who generates a table from such a package pins it, and compares it with others.
#
# Needs Node 20, npm and tar. It downloads 35 MB.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
expect() { [ "$2" = "$3" ] || { echo "$1: $2, expected $3" >&2; exit 1; }; echo "$1: $2"; }

for version in 13.33.0 13.40.0; do
  mkdir "$version"
  npm pack --silent "@ledgerhq/cryptoassets@$version" --pack-destination "$version" >/dev/null
  tar -xzf "$version"/*.tgz -C "$version"
done
data() { find "$1/package/lib" -path '*/lib/data/*' -type f | wc -l | tr -d ' '; }
usdc() { grep -rlie a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48 "$1/package/lib" --include='*.js*' | grep -vc '\.map$' || true; }
expect 'files of data in 13.33.0' "$(data 13.33.0)" 439
expect 'files of data in 13.40.0' "$(data 13.40.0)" 0
[ "$(usdc 13.33.0)" -gt 0 ] || { echo 'USDC is not in 13.33.0' >&2; exit 1; }
expect 'files with the contract of USDC in 13.40.0' "$(usdc 13.40.0)" 0
expect 'coins of chains in 13.40.0' "$(grep -c 'type: "CryptoCurrency"' 13.40.0/package/lib/currencies.js)" 197
(mkdir range && cd range && echo '{"private":true}' > package.json && npm install --silent --package-lock-only --ignore-scripts '@ledgerhq/cryptoassets@^13.33.0' >/dev/null)
taken=$(node -p "require('./range/package-lock.json').packages['node_modules/@ledgerhq/cryptoassets'].version")
case $taken in 13.33.*) echo "^13.33.0 takes $taken" >&2; exit 1 ;; *) echo "^13.33.0 takes $taken" ;; esac
