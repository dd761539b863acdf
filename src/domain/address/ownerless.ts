/**
 * Addresses that are known to pay nothing out: of each network's own contracts and accounts, of coins that are destroyed, and of keys that
 * cannot exist. Everything else may be a wallet, a contract too. Each list has its source beside it.
 */
import { ECDH } from 'node:crypto'
import { sha256 } from './encoding.ts'
import { type FormatName, formats } from './formats.ts'

interface Ownerless {
  /** Addresses of the network's own: contracts and accounts that pay nothing out. */
  readonly system?: readonly string[]
  /** Further ones, by their account without its kind. */
  readonly isSystem?: (account: string) => boolean
  /** Addresses that are known to be used to destroy coins. */
  readonly burn?: readonly string[]
}

/**
 * Numbers of up to eight bytes are precompiled and predeployed contracts (EIP-1352, also ZKsync's and VeChain's energy): no key and no
 * contract of anybody's has twelve bytes of zeros. Those of Optimism's stack, the reserved ranges of Avalanche (coreth,
 * precompile/modules/registerer.go), and the callers of Optimism and of the system (EIP-4788).
 */
const ethereumSystem = /^(?:0{24}[0-9a-f]{16}|420{34}[0-9a-f]{4}|0[1-3]0{36}[0-9a-f]{2}|f{40}|f{39}e)$/

const ofEthereum: Ownerless = {
  isSystem: (account) => ethereumSystem.test(account),
  system: [
    // The placeholder of lists for the coin of a chain
    `0x${'e'.repeat(40)}`,
    // Optimism's stack: predeploys of its first version, and the depositor of L1 attributes
    '0xDeadDeAddeAddEAddeadDEaDDEAdDeaDDeAD0000',
    '0xDeaDDEaDDeAdDeAdDEAdDEaddeAddEAdDEAd0001',
    // EIP-6110 (deposits), EIP-4788, EIP-2935, EIP-7002, EIP-7251
    '0x00000000219ab540356cBB839Cbe05303d7705Fa',
    '0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02',
    '0x0000F90827F1C53a10cb7A02335B175320002935',
    '0x00000961Ef480Eb55e80D19ad83579A64c007002',
    '0x0000BBdDc7CE488642fb579F8B00f3a590007251',
  ],
  burn: ['0x000000000000000000000000000000000000dead', '0xdead000000000000000042069420694206942069', `0x${'dead'.repeat(10)}`],
}

/** Modules have the hashes of their names as accounts. A chain refuses transfers to them. */
function cosmosModules(...own: readonly string[]): Ownerless {
  const names = ['bonded_tokens_pool', 'distribution', 'fee_collector', 'gov', 'mint', 'not_bonded_tokens_pool', 'transfer', ...own]
  const accounts = new Set(names.map((name) => sha256(Buffer.from(name)).toString('hex', 0, 20)))
  return { isSystem: (account) => accounts.has(account) }
}

/** A chain of the Cosmos with Ethereum's machine: an account has both spellings. */
function withEthereum({ isSystem }: Ownerless): Ownerless {
  return { ...ofEthereum, isSystem: (account) => isSystem?.(account) === true || ethereumSystem.test(account) }
}

/** Up to two bytes. */
const ofMove: Ownerless = { isSystem: (account) => /^0{60}[0-9a-f]{4}$/.test(account) }

/** Modules of a Substrate chain: `modl` and their name. */
const ofSubstrate: Ownerless = { isSystem: (account) => account.startsWith('6d6f646c') }

const ofBitcoin: Ownerless = { burn: ['1BitcoinEaterAddressDontSendf59kuE'] }

/** By the format of the addresses. */
export const byFormat: Partial<Record<FormatName, Ownerless>> = {
  AKT: cosmosModules(),
  ALGO: {
    system: [
      '737777777777777777777777777777777777777777777777777UFEJ2CI',
      'Y76M3MSY6DKBRHBL7C3NNDXGS5IIMQVQVUAB6MP4XEMMGVF2QWNPL226CA',
    ],
  },
  APT: ofMove,
  ATOM: cosmosModules(),
  BCH: ofBitcoin,
  BSV: ofBitcoin,
  BTC: {
    system: ['bc1pfeessrawgf'],
    burn: ['1BitcoinEaterAddressDontSendf59kuE', '1ChancecoinXXXXXXXXXXXXXXXXXZELUFD', '1CounterpartyXXXXXXXXXXXXXXXUWLpVr'],
  },
  DOGE: { burn: ['DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr'] },
  DOT: ofSubstrate,
  EGLD: { isSystem: (account) => /^0{19}10{36}[0-9a-f]{4}f{4}$/.test(account) },
  ETH: ofEthereum,
  // Actors below 100 are the network's own; fe…01 to 06 are precompiled (filecoin-solidity, FVMPay)
  FIL: {
    ...ofEthereum,
    isSystem: (account) =>
      ethereumSystem.test(account) ||
      /^fe0{37}[1-6]$/.test(account) ||
      (/^0{14}[0-9a-f]{2}$/.test(account) && Number(`0x${account}`) < 100),
    burn: ['f099', ...(ofEthereum.burn ?? [])],
  },
  HBAR: { ...ofEthereum, system: ['0.0.98', '0.0.800', '0.0.801', ...(ofEthereum.system ?? [])] },
  ICP: { system: ['aaaaa-aa', '2vxsx-fae'] },
  ICX: { system: ['hx1000000000000000000000000000000000000000', 'cx0000000000000000000000000000000000000001'] },
  INJ: withEthereum(cosmosModules()),
  // Kava-Labs/kava, app/app.go: mAccPerms
  KAVA: withEthereum(
    cosmosModules(
      ...['auction', 'bep3', 'cdp', 'community', 'earn', 'evm', 'evmutil', 'hard', 'issuance', 'kava-fund', 'kavadist'],
      ...['liquid', 'liquidator', 'savings', 'swap'],
    ),
  ),
  KSM: ofSubstrate,
  LUNA: cosmosModules(),
  NEAR: { system: ['system'] },
  OSMO: cosmosModules(),
  RONIN: ofEthereum,
  ROSE: {
    system: [
      'oasis1qrmufhkkyyf79s5za2r8yga9gnk4t446dcy3a5zm',
      'oasis1qqnv3peudzvekhulf8v3ht29z4cthkhy7gkxmph5',
      'oasis1qp65laz8zsa9a305wxeslpnkh9x4dv2h2qhjz0ec',
    ],
    burn: ['oasis1qzq8u7xs328puu2jy524w3fygzs63rv3u5967970'],
  },
  RUNE: cosmosModules('asgard', 'bond', 'reserve'),
  SEI: withEthereum(cosmosModules()),
  // Programs, loaders and sysvars: @solana/web3.js 1.99.0, @solana/sysvars 8.4.0, solana-sdk-ids; So1… is the mint of wrapped SOL
  SOL: {
    system: [
      '11111111111111111111111111111111',
      'AddressLookupTab1e1111111111111111111111111',
      'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
      'BPFLoader1111111111111111111111111111111111',
      'BPFLoader2111111111111111111111111111111111',
      'BPFLoaderUpgradeab1e11111111111111111111111',
      'ComputeBudget111111111111111111111111111111',
      'Config1111111111111111111111111111111111111',
      'Ed25519SigVerify111111111111111111111111111',
      'Feature111111111111111111111111111111111111',
      'KeccakSecp256k11111111111111111111111111111',
      'LoaderV411111111111111111111111111111111111',
      'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
      'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
      'NativeLoader1111111111111111111111111111111',
      'Secp256r1SigVerify1111111111111111111111111',
      'So11111111111111111111111111111111111111112',
      'Stake11111111111111111111111111111111111111',
      'StakeConfig11111111111111111111111111111111',
      'Sysvar1111111111111111111111111111111111111',
      'Sysvar1nstructions1111111111111111111111111',
      'SysvarC1ock11111111111111111111111111111111',
      'SysvarEpochRewards1111111111111111111111111',
      'SysvarEpochSchedu1e111111111111111111111111',
      'SysvarFees111111111111111111111111111111111',
      'SysvarLastRestartS1ot1111111111111111111111',
      'SysvarRecentB1ockHashes11111111111111111111',
      'SysvarRent111111111111111111111111111111111',
      'SysvarRewards111111111111111111111111111111',
      'SysvarS1otHashes111111111111111111111111111',
      'SysvarS1otHistory11111111111111111111111111',
      'SysvarStakeHistory1111111111111111111111111',
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
      'Va1idator1nfo111111111111111111111111111111',
      'Vote111111111111111111111111111111111111111',
      'ZkE1Gama1Proof11111111111111111111111111111',
    ],
    burn: ['1nc1nerator11111111111111111111111111111111'],
  },
  // The contract of STRK itself: docs.starknet.io, "Important addresses"
  STRK: { ...ofMove, system: ['0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d'] },
  SUI: ofMove,
  TAO: ofSubstrate,
  TIA: cosmosModules(),
  // The elector and the configuration: docs.ton.org, "Governance contracts"
  TON: { system: [`-1:${'3'.repeat(64)}`, `-1:${'5'.repeat(64)}`] },
  TRX: { burn: ['TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'] },
  XDC: ofEthereum,
  // The contracts of XLM and of Circle's USDC: @stellar/stellar-sdk 15.1.0, Asset.contractId
  XLM: {
    system: [
      'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA',
      'CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75',
    ],
    burn: ['GALAXYVOIDAOPZTDLHILAJQKCVVFMD4IKLXLSZV5YHO7VY74IWZILUTO'],
  },
  XRP: {
    system: ['rrrrrrrrrrrrrrrrrrrrBZbvji'],
    burn: ['rrrrrrrrrrrrrrrrrNAMEtxvNvQ', 'rrrrrrrrrrrrrrrrrrrn5RM1rHd'],
  },
  XTZ: { burn: ['tz1burnburnburnburnburnburnburjAYjjX'] },
  ZIL: ofEthereum,
}

// HYPE to 0x22…, and a coin to the contract of its wrapped token, is credited there to the sender, which is the provider.

const hyperliquid: Ownerless = {
  // 0x20 and the index of a token: Hyperliquid's documentation, "HyperCore <> HyperEVM transfers"
  isSystem: (account) => /^200{22}[0-9a-f]{16}$/.test(account),
  system: [
    `0x${'2'.repeat(40)}`,
    // "Interacting with HyperCore": CoreWriter. "Wrapped HYPE". "Fees": the assistance fund
    `0x${'3'.repeat(40)}`,
    `0x${'5'.repeat(40)}`,
    `0x${'fe'.repeat(20)}`,
  ],
}

/** By a word for the network, where it has the format of another one. Wrapped coins: @uniswap/sdk-core 7.19.4, WETH9. */
export const byNetwork: Readonly<Record<string, Ownerless>> = {
  ARBITRUM: { system: ['0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'] },
  AVAXC: { system: ['0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7'] },
  BSC: { system: ['0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c'] },
  ETH: { system: ['0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'] },
  HYPEEVM: hyperliquid,
  HYPEREVM: hyperliquid,
  LINEA: { system: ['0xe5D7C2a44FfDDf6b295A15c148167daaAf5Cf34f'] },
  MONAD: { system: ['0x3bd359C1119dA7Da1D913D1C4D2B7c461115433A'] },
  POLYGON: { system: ['0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270'] },
  SEI: cosmosModules(),
  ZKSYNC: { system: ['0x5AEa5775959fBC2557Cc8789bC1bf90A239D9a91'] },
}

export type OwnerlessKind = 'zero' | 'system' | 'burn' | 'keyless' | 'rollup'

/** Why nobody can pay out from an address, if that is known. `networks`: the words for its network. */
export function ownerlessKind(address: string, format: FormatName, networks: readonly string[] = []): OwnerlessKind | undefined {
  const account = formats[format].accountOf(address)
  if (account === undefined) return undefined
  const digits = account.slice(account.indexOf(':') + 1)
  const lists = [byFormat[format], ...networks.map((network) => byNetwork[network.toUpperCase()])].filter(
    (list) => list !== undefined,
  )
  for (const list of lists) {
    const kind = listedAccounts(list, format).get(account)
    if (kind) return kind
  }
  if (/^0+$/.test(digits)) return 'zero'
  if (lists.some(({ isSystem }) => isSystem?.(digits))) return 'system'
  if (account.startsWith('witness1:') && digits.length === 64 && !isPoint(digits)) return 'keyless'
  return account.startsWith('rollup:') ? 'rollup' : undefined
}

type Accounts = ReadonlyMap<string, OwnerlessKind>

/** Decoding a list takes longer than all else that is asked of an address: each is decoded once, when it is first needed. */
const decoded = new Map<Ownerless, Map<FormatName, Accounts>>()

function listedAccounts(list: Ownerless, format: FormatName): Accounts {
  const byFormatName = decoded.getOrInsertComputed(list, () => new Map())
  return byFormatName.getOrInsertComputed(format, () => {
    const of = (kind: OwnerlessKind, addresses: readonly string[] = []) =>
      addresses.map((address) => [formats[format].accountOf(address), kind] as const)
    return new Map(
      [...of('system', list.system), ...of('burn', list.burn)].flatMap(([account, kind]) => (account ? [[account, kind]] : [])),
    )
  })
}

/** Whether a key of taproot (BIP 341) exists: a number that is no coordinate of the curve is nobody's. */
function isPoint(coordinate: string): boolean {
  try {
    ECDH.convertKey(`02${coordinate}`, 'secp256k1', 'hex')
    return true
  } catch {
    return false
  }
}
