/** Reads the published lists that `tools/published` installs, each as rows of the same form. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'

/** What a list says of a token, or, without a contract, of the coin of a chain. */
export interface PublishedRow {
  readonly list: string
  /** The id of the network's EVM chain. */
  readonly chainId?: number
  /** The list's own words for the network. */
  readonly words: readonly string[]
  /** What the list calls the coin. */
  readonly ticker: string
  /** Whether that is an id of its own, the same on each network, and no ticker. */
  readonly isId?: true
  readonly contract?: string
  readonly decimals?: number
}

type Row = Omit<PublishedRow, 'list'>

/** By package: the list's name, and how it is read. Their data is literals: a module is run without what it imports. */
const lists: Readonly<Record<string, readonly [list: string, read: (folder: string) => readonly Row[]]>> = {
  '@uniswap/default-token-list': ['uniswap', (folder) => tokenList(json(folder, 'build/uniswap-default.tokenlist.json'))],
  '@eth-optimism/tokenlist': ['superchain', readSuperchain],
  '@aave-dao/aave-address-book': ['aave', readAave],
  '@metamask/contract-metadata': ['metamask', readMetaMask],
  '@swapkit/tokens': ['swapkit', readSwapKit],
  '@shapeshiftoss/caip': ['coingecko', readCoinGecko],
  'edge-currency-accountbased': ['edge', readEdge],
  viem: ['viem', readViem],
  '@circle-fin/bridge-kit': ['circle', readCircle],
  '@ledgerhq/cryptoassets': ['ledger', readLedger],
  'chain-registry': ['chain-registry', readChainRegistry],
}

/** What the packages in `nodeModules` say. */
export function readLists(nodeModules: string): readonly PublishedRow[] {
  return Object.entries(lists).flatMap(([name, [list, read]]) => {
    const rows = read(join(nodeModules, name))
    if (rows.length === 0) throw new Error(`${name}: no rows found: its form is another one`)
    return rows.map((row) => ({ list, ...row }))
  })
}

interface TokenList {
  readonly tokens: readonly {
    readonly chainId: number
    readonly address: string
    readonly symbol: string
    readonly decimals: number
    readonly tags?: readonly string[]
  }[]
}

/** The format of tokenlists.org. */
function tokenList({ tokens }: TokenList): readonly Row[] {
  return tokens.map(({ chainId, address, symbol, decimals }) => ({
    chainId,
    words: [],
    ticker: symbol,
    contract: address,
    decimals,
  }))
}

function readSuperchain(folder: string): readonly Row[] {
  return tokenList({ tokens: literal(folder, 'dist/optimism.tokenlist.js', /^var tokens = (\[.*?^\]);/ms) })
}

/** The others are tokens that Aave makes of these. */
function readAave(folder: string): readonly Row[] {
  const { tokens } = json<TokenList>(folder, 'tokenlist.json')
  return tokenList({ tokens: tokens.filter(({ tags }) => tags?.includes('underlying')) })
}

function readMetaMask(folder: string): readonly Row[] {
  const tokens = json<Record<string, { symbol: string; decimals: number; erc20?: boolean }>>(folder, 'contract-map.json')
  return Object.entries(tokens).flatMap(([contract, { symbol, decimals, erc20 }]) =>
    erc20 ? [{ chainId: 1, words: [], ticker: symbol, contract, decimals }] : [],
  )
}

interface SwapKitToken {
  readonly chain: string
  readonly chainId: string
  readonly ticker: string
  readonly address?: string
  readonly decimals: number
}

/** A list for each exchange, many rows in several of them. The synthetic coins of THORChain and Maya have no address, and a dot or slash. */
function readSwapKit(folder: string): readonly Row[] {
  const under = 'src/tokenLists'
  const tokens = readdirSync(join(folder, under))
    .filter((file) => file !== 'index.ts')
    .flatMap((file) => literal<{ tokens: readonly SwapKitToken[] }>(folder, `${under}/${file}`, /= (\{\n.*^\})/ms).tokens)
  const rows = tokens.flatMap(({ chain, chainId, ticker, address, decimals }): Row[] =>
    chain === 'FIAT' || /[./~]/.test(ticker)
      ? []
      : [{ ...chainIdOf(chainId), words: [chain], ticker, ...(address && { contract: address }), decimals }],
  )
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()]
}

/** CAIP-19 ids of assets, and the ids of CoinGecko. `slip44` is the coin of a chain. */
function readCoinGecko(folder: string): readonly Row[] {
  const under = 'dist/cjs/adapters/coingecko/generated'
  return foldersIn(folder, under).flatMap((chain) =>
    Object.entries(json<Record<string, string>>(folder, `${under}/${chain}/adapter.json`)).map(([asset, ticker]) => {
      const [network = '', kind = '', contract = ''] = asset.split(/[/](?=[a-z0-9]+:)|(?<=[/][a-z0-9]+):/)
      const [space, reference = ''] = network.split(':')
      return {
        ...(space === 'eip155' && chainIdOf(reference)),
        words: space === 'eip155' ? [] : [network],
        ticker,
        isId: true as const,
        ...(kind !== 'slip44' && { contract }),
      }
    }),
  )
}

interface EdgePlugin {
  readonly builtinTokens?: Readonly<
    Record<
      string,
      {
        currencyCode: string
        denominations: readonly [{ multiplier: string }]
        networkLocation: { contractAddress?: string; currency?: string; issuer?: string }
      }
    >
  >
  readonly currencyInfo: {
    pluginId: string
    currencyCode: string
    evmChainId?: number
    chainDisplayName: string
    denominations: readonly [{ multiplier: string }]
  }
}

function readEdge(folder: string): readonly Row[] {
  const files = (readdirSync(join(folder, 'lib'), { recursive: true }) as string[]).filter((file) => /\/\w+Info\.js$/.test(file))
  return files.flatMap((file) => {
    const plugins: EdgePlugin[] = []
    run(folder, `lib/${file}`, { makeOuterPlugin: (plugin: EdgePlugin) => plugins.push(plugin) })
    return plugins.flatMap(({ currencyInfo, builtinTokens = {} }) => {
      const { pluginId, evmChainId, currencyCode, chainDisplayName, denominations } = currencyInfo
      const network = { words: [pluginId, chainDisplayName], ...(evmChainId && { chainId: evmChainId }) }
      return [
        { ...network, ticker: currencyCode, decimals: zerosOf(denominations[0].multiplier) },
        ...Object.values(builtinTokens).map((token) => {
          const { contractAddress, currency, issuer } = token.networkLocation
          const contract = contractAddress ?? `${currency}-${issuer}`
          return { ...network, ticker: token.currencyCode, contract, decimals: zerosOf(token.denominations[0].multiplier) }
        }),
      ]
    })
  })
}

interface EvmChain {
  readonly id: number
  readonly name: string
  readonly testnet?: boolean
  readonly nativeCurrency: { symbol: string; decimals: number }
}

function readViem(folder: string): readonly Row[] {
  const definitions = (kind: string): readonly object[] =>
    readdirSync(join(folder, `_cjs/${kind}/definitions`))
      .filter((file) => file.endsWith('.js'))
      .flatMap((file) => Object.values(run(folder, `_cjs/${kind}/definitions/${file}`)) as object[])
  const chains = (definitions('chains') as readonly EvmChain[])
    .filter(({ testnet }) => !testnet)
    .map(({ id, name, nativeCurrency: { symbol, decimals } }) => ({ chainId: id, words: [name], ticker: symbol, decimals }))
  const tokens = (
    definitions('tokens') as readonly { addresses: Record<string, string>; symbol: string; decimals: number }[]
  ).flatMap(({ addresses, symbol, decimals }) =>
    Object.entries(addresses).map(([id, contract]) => ({ chainId: Number(id), words: [], ticker: symbol, contract, decimals })),
  )
  return [...chains, ...tokens]
}

/** Its chains are more than its exports. The decimals of the tokens are elsewhere. */
function readCircle(folder: string): readonly Row[] {
  const blocks = readFileSync(join(folder, 'chains.cjs'), 'utf8').matchAll(/defineChain\((\{\n {4}type: .*?^\})\);/gms)
  return [...blocks].flatMap(([, block = '']) => {
    const memberOf = (name: string): string | undefined => new RegExp(`^ +${name}: '?([^',\n]+)`, 'm').exec(block)?.[1]
    if (memberOf('isTestnet') !== 'false') return []
    const network = { ...chainIdOf(memberOf('chainId') ?? ''), words: [memberOf('name') ?? ''] }
    const tokens = { USDC: memberOf('usdcAddress'), EURC: memberOf('eurcAddress'), USDT: memberOf('usdtAddress') }
    return [
      { ...network, ticker: memberOf('symbol') ?? '', decimals: Number(memberOf('decimals')) },
      ...Object.entries(tokens).flatMap(([ticker, contract]) =>
        contract === undefined || contract === 'null' ? [] : [{ ...network, ticker, contract }],
      ),
    ]
  })
}

interface LedgerCurrency {
  readonly id: string
  readonly name: string
  readonly ticker: string
  readonly isTestnetFor?: string
  readonly units: readonly { magnitude: number }[]
  readonly ethereumLikeInfo?: { chainId: number }
}

/** Coins of chains. 13.33.0 had tokens, 13.40.0 has none: Ledger's programs ask its service for them. */
function readLedger(folder: string): readonly Row[] {
  const currencies = run(folder, 'lib/currencies.js').cryptocurrenciesById as Readonly<Record<string, LedgerCurrency>>
  return Object.values(currencies)
    .filter(({ isTestnetFor }) => !isTestnetFor)
    .map(({ id, name, ticker, units, ethereumLikeInfo }) => ({
      words: [id, name],
      ticker,
      decimals: Math.max(...units.map(({ magnitude }) => magnitude)),
      ...(ethereumLikeInfo && { chainId: ethereumLikeInfo.chainId }),
    }))
}

interface RegistryAsset {
  readonly symbol: string
  readonly base: string
  readonly display: string
  readonly typeAsset: string
  readonly address?: string
  readonly denomUnits: readonly { denom: string; exponent: number }[]
}

/** The first asset of a chain is its coin, if it is one of the chain's own and no token. */
function readChainRegistry(folder: string): readonly Row[] {
  return ['mainnet', 'noncosmos'].flatMap((under) =>
    foldersIn(folder, under).flatMap((chain) => {
      const { assets } = run(folder, `${under}/${chain}/asset-list.js`).default as { assets: readonly RegistryAsset[] }
      return assets.flatMap(({ symbol, display, typeAsset, address, denomUnits }, at): Row[] => {
        const decimals = denomUnits.find(({ denom }) => denom === display)?.exponent
        const row = { words: [chain], ticker: symbol, ...(decimals !== undefined && { decimals }) }
        if (address && typeAsset !== 'ics20') return [{ ...row, contract: address }]
        return at === 0 && (typeAsset === 'sdk.coin' || typeAsset === 'unknown' || typeAsset === 'substrate') ? [row] : []
      })
    }),
  )
}

function foldersIn(folder: string, under: string): readonly string[] {
  return readdirSync(join(folder, under), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
}

function json<T>(folder: string, file: string): T {
  return JSON.parse(readFileSync(join(folder, file), 'utf8')) as T
}

/** A literal in a file that is no module of Node's. */
function literal<T>(folder: string, file: string, pattern: RegExp): T {
  const [, text] = pattern.exec(readFileSync(join(folder, file), 'utf8')) ?? []
  if (text === undefined) throw new Error(`${file} in ${folder}: its form is another one`)
  return runInNewContext(`(${text})`, {}, { filename: file, timeout: 10_000 }) as T
}

/**
 * What a module of literals exports. What it imports is `imports`, and else nothing: a value whose every member, call and result is it
 * again.
 */
function run(folder: string, file: string, imports: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  const nothing: unknown = new Proxy(() => undefined, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => '' : nothing),
    apply: () => nothing,
    construct: () => nothing as object,
  })
  const same = (value: unknown): unknown => value
  const known: Readonly<Record<string, unknown>> = { defineChain: same, defineToken: same, ...imports }
  const imported = new Proxy({}, { get: (_, name) => known[String(name)] ?? nothing })
  const module = { exports: {} as Record<string, unknown> }
  const scope = { exports: module.exports, module, require: () => imported, process: { env: {} } }
  runInNewContext(readFileSync(join(folder, file), 'utf8'), scope, { filename: file, timeout: 10_000 })
  return module.exports
}

function chainIdOf(text: string): { readonly chainId?: number } {
  return /^\d+$/.test(text) ? { chainId: Number(text) } : {}
}

/** The decimals of `1000000`. */
function zerosOf(multiplier: string): number {
  return multiplier.length - 1
}
