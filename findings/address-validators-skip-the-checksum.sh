#!/bin/sh
# Two chain libraries call an address valid without a look at its checksum.
#
# starknet.js 7.1.0: `validateAndParseAddress`, which transactions use, takes an address of both cases with a wrong digit, and writes it in
# lower case: its checksum (the case of the letters) is looked at by `validateChecksumAddress` alone. That says no to every address in one
# case, and to one without its leading zero, so that it cannot be asked alone either.
# @ton/core 0.63.1: `Address.isFriendly` looks at the length and the alphabet, and says yes to a wrong CRC-16; `Address.parse` throws.
# A check by the function of the right name takes a typo that costs the payout. What helps: in both cases, the checksum oneself.
#
# Needs Node 20 and npm. It installs nothing outside of its temporary folder.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts starknet@7.1.0 @ton/core@0.63.1 @ton/crypto@3.3.0 >/dev/null 2>&1 ||
  { echo "starknet 7.1.0 or @ton/core 0.63.1 is not to be had any more" >&2; exit 1; }

cat > look.mjs <<'LOOK'
import { validateAndParseAddress, validateChecksumAddress } from 'starknet'
import { Address } from '@ton/core'

const outcomeOf = (ask) => {
  try {
    return String(ask())
  } catch {
    return 'throws'
  }
}
const starknet = '0x049D36570D4e46f48e99674bd3fcc84644DdD6b96F7C741B1562B82f9e004dC7'
const wrong = starknet.replace('96F7C7', '96F7C8')
const ton = 'EQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff-W72r5gqPrHG' // its last letter is F
const seen = [
  ['starknet.js, a wrong digit, validateAndParseAddress', () => validateAndParseAddress(wrong), wrong.toLowerCase()],
  ['starknet.js, a wrong digit, validateChecksumAddress', () => validateChecksumAddress(wrong), 'false'],
  ['starknet.js, right and in lower case, validateChecksumAddress', () => validateChecksumAddress(starknet.toLowerCase()), 'false'],
  ['starknet.js, right, without its leading zero, validateChecksumAddress', () => validateChecksumAddress(starknet.replace('0x0', '0x')), 'false'],
  ['@ton/core, a wrong letter, Address.isFriendly', () => Address.isFriendly(ton), 'true'],
  ['@ton/core, a wrong letter, Address.parse', () => Address.parse(ton), 'throws'],
]
for (const [what, ask, expected] of seen) {
  const outcome = outcomeOf(ask)
  console.log(`${what}: ${outcome}`)
  if (outcome !== expected) {
    console.error(`expected ${expected}`)
    process.exitCode = 1
  }
}
LOOK
node look.mjs
# Seen: the address in lower case, false, false, false, true, throws.
