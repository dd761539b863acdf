#!/bin/sh
# Well-kept lists of tokens are wrong about dollars: by a factor of 10^12, and by the contract.
#
# edge-currency-accountbased 4.92.0 gives the contract of Sky's USDS on Ethereum the name and the 6 decimals of StableUSD, which had the
# ticker before: 18 is right (Uniswap's list, Aave's). chain-registry 2.0.251 gives Tether on BSC the 6 decimals that it has on Ethereum: 18
# is right (Uniswap's, Aave's, Edge's). Uniswap's list 22.21.0 has as PYUSD on Arbitrum what Arbitrum's bridge made of Ethereum's; PayPal's
# own is another contract (CoinGecko's ids in @shapeshiftoss/caip 8.17.0). So neither the ticker with the network nor one list's decimals
# say which token it is, and a majority of lists is needed to see it.
#
# Needs Node 20, npm and tar. It runs none of the packages.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
take() {
  mkdir "$1"
  npm pack --silent "$2" --pack-destination "$1" >/dev/null
  tar -xzf "$1"/*.tgz -C "$1"
}
take edge edge-currency-accountbased@4.92.0
take registry chain-registry@2.0.251
take uniswap @uniswap/default-token-list@22.21.0
take aave @aave-dao/aave-address-book@4.68.1
take caip @shapeshiftoss/caip@8.17.0

cat > read.mjs <<'READ'
import { readFileSync } from 'node:fs'
const text = (file) => readFileSync(file, 'utf8')
const lists = { uniswap: 'uniswap/package/build/uniswap-default.tokenlist.json', aave: 'aave/package/tokenlist.json' }
const found = (list, chainId, test) => JSON.parse(text(lists[list])).tokens.filter((token) => token.chainId === chainId && test(token))
const decimals = (list, chainId, contract) => found(list, chainId, ({ address }) => address.toLowerCase() === contract)[0]?.decimals
const expect = (what, seen, expected) => {
  console.log(`${what}: ${seen}`)
  if (String(seen) !== String(expected)) throw new Error(`expected ${expected}`)
}

const usds = '0xdc035d45d973e3ec169d2276ddab16f1e407384f'
const edge = text('edge/package/lib/ethereum/info/ethereumInfo.js').split(`${usds.slice(2)}: {`)[1].slice(0, 250)
expect('USDS of Sky, decimals in Edge', /multiplier: '1(0+)'/.exec(edge)[1].length, 6)
expect('its name there', /displayName: '([^']*)'/.exec(edge)[1], 'StableUSD')
expect('in Uniswap', decimals('uniswap', 1, usds), 18)
expect('in Aave', decimals('aave', 1, usds), 18)

const usdt = '0x55d398326f99059ff775485246999027b3197955'
const registry = text('registry/package/noncosmos/binancesmartchain/asset-list.js').toLowerCase().split(`address: '${usdt}'`)[1]
expect('USDT on BSC, decimals in chain-registry', /denom: 'usdt',\s+exponent: (\d+)/.exec(registry)[1], 6)
expect('in Uniswap', decimals('uniswap', 56, usdt), 18)
expect('in Aave', decimals('aave', 56, usdt), 18)

const [pyusd] = found('uniswap', 42161, ({ symbol }) => symbol === 'PYUSD')
const ids = Object.entries(JSON.parse(text('caip/package/dist/cjs/adapters/coingecko/generated/eip155_42161/adapter.json')))
const own = ids.filter(([, id]) => id === 'paypal-usd').map(([asset]) => asset.split(':').at(-1))
expect('PYUSD on Arbitrum in Uniswap', pyusd.address, '0x327006c8712FE0AbdbbD55B7999DB39b0967342E')
expect('made by the bridge of', Object.values(pyusd.extensions.bridgeInfo)[0].tokenAddress, '0x6c3ea9036406852006290770BEdFcAbA0e23A0e8')
expect('PYUSD on Arbitrum in CoinGecko', own, '0x46850ad61c2b7d64d08c9c754f45254596696984')
READ
node read.mjs
