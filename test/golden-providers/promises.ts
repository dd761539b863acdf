/** What a provider's form is besides its exchanges, from the provider's documentation. */
import type { ProviderPromises } from './check.ts'

const sent = ['listCurrencies', 'getRate', 'createTransaction', 'listTransactions', 'getTransaction']
const none = { networks: {}, assets: {}, depositMemo: [], settings: [] } as const

/** By the folder of its goldens. */
export const providerPromises = {
  exolix: {
    name: 'exolix',
    optionalSettings: { refs: 'text' },
    newestFirst: false,
    hasExpectedAmount: true,
    pageSize: 100,
    keyed: sent,
    ...none,
    depositMemo: ['XLM', 'XRP'],
    flagsDepositMemos: true,
    networks: { byName: { POLYGON: 'MATIC', ZKSYNC: 'ZKSYNCERA' } },
  },
  changenow: {
    ...none,
    actions: {
      refundTransaction: { offeredIn: ['failed', 'held'], isReported: true, takesAddress: true },
      continueTransaction: { offeredIn: ['failed', 'held'], isReported: true, takesAddress: false },
    },
    name: 'changenow',
    optionalSettings: { payload: 'object' },
    newestFirst: false,
    hasExpectedAmount: true,
    pageSize: 99,
    keyed: sent.slice(1),
    depositMemo: ['XLM', 'XRP'],
    networks: {
      byName: { AVAXC: { home: 'cchain', others: 'avaxc' }, MONAD: 'mon', OPTIMISM: 'op', PLS: 'pulse', POLYGON: 'matic' },
    },
    assets: {
      USDCEARB: { coin: 'arbusdce', network: 'arbitrum' },
      USDCEOP: { coin: 'opusdce', network: 'op' },
      USDCEPOLYGON: { coin: 'maticusdce', network: 'matic' },
    },
  },
  stealthex: {
    ...none,
    name: 'stealthex',
    optionalSettings: { additional_fee_percent: 'number' },
    newestFirst: false,
    hasExpectedAmount: true,
    pageSize: 250,
    keyed: ['listCurrencies', 'getRate', 'createTransaction', 'getTransaction'],
    depositMemo: ['XLM', 'XRP'],
    networks: { home: 'mainnet', byName: { AVAXC: 'avax-c', POLYGON: 'matic' } },
    assets: { AVAX: { coin: 'avax', network: 'avax-c' }, OSMO: { coin: 'osmo', network: 'cosmos' } },
  },
  letsexchange: {
    ...none,
    name: 'letsexchange',
    depositMemo: ['XLM', 'XRP'],
    newestFirst: false,
    hasExpectedAmount: true,
    pageSize: 100,
    keyed: sent,
    settings: ['affiliateId'],
    optionalSettings: { promocode: 'text' },
    maxResponseBytes: 8_388_608,
    networks: {
      byName: {
        ETH: { home: 'ETH', others: 'ERC20' },
        TRX: { home: 'TRX', others: 'TRC20' },
        BSC: { home: 'BNB', others: 'BEP20' },
        HYPEEVM: { home: 'HYPEEVM', others: 'HYPE' },
        POLYGON: 'POL',
        ZKSYNC: 'ZKSERA',
      },
    },
  },
  changelly: {
    ...none,
    name: 'changelly',
    optionalSettings: { userMetadata: 'text' },
    depositMemo: ['XLM', 'XRP'],
    newestFirst: false,
    hasExpectedAmount: true,
    pageSize: 100,
    keyed: sent,
    networks: {
      byName: {
        ...{ ADA: 'cardano', ALGO: 'algorand', ATOM: 'cosmos', BCH: 'bitcoin_cash', BSC: 'binance_smart_chain', BSV: 'bitcoin_sv' },
        ...{ BTC: 'bitcoin', DGB: 'digibyte', DOT: 'polkadot', ETC: 'ethereum_classic', ETH: 'ethereum', ETHW: 'ethereum_pow' },
        ...{ FIL: 'filecoin', HBAR: 'hedera', LTC: 'litecoin', MONAD: 'mon', OSMO: 'osmo', RUNE: 'thorchain', SOL: 'solana' },
        ...{ TRX: 'tron', XLM: 'stellar', XMR: 'monero', XRP: 'ripple', XTZ: 'tezos', ZEC: 'zcash', ZIL: 'zilliqa' },
      },
    },
    assets: {
      ...{ AVAX: { code: 'avaxc' }, BNB: { code: 'bnbbsc' }, ZK: { code: 'zksync' } },
      ...{ USDCAVAXC: { code: 'usdcavac' }, USDTAVAXC: { code: 'usdtavac' } },
      ...{ USDCBEP20: { code: 'usdcbsc' }, USDCERC20: { code: 'usdc' }, USDTBEP20: { code: 'usdtbsc' } },
      ...{ USDTERC20: { code: 'usdt20' }, USDTTON: { code: 'usdton' }, USDTTRC20: { code: 'usdtrx' } },
    },
  },
  sideshift: {
    actions: {
      refundTransaction: { offeredIn: ['wait'], isReported: false, takesAddress: false },
      setRefundAddress: {
        offeredIn: ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'failed', 'held'],
        isReported: false,
        takesAddress: true,
      },
    },
    ...none,
    name: 'sideshift',
    optionalSettings: { commissionRate: 'text' },
    settings: ['affiliateId'],
    depositMemo: ['ATOM', 'KAVA', 'XLM', 'XRP'],
    newestFirst: false,
    hasExpectedAmount: true,
    pageSize: 100,
    keyed: ['getRate', 'createTransaction'],
    networks: {
      byName: {
        ...{ ADA: 'cardano', ALGO: 'algorand', APT: 'aptos', ATOM: 'cosmos', AVAXC: 'avax', BCH: 'bitcoincash', BTC: 'bitcoin' },
        ...{ DOT: 'polkadot', ETH: 'ethereum', HBAR: 'hedera', HYPEEVM: 'hyperevm', LTC: 'litecoin', MNT: 'mantle' },
        ...{ SOL: 'solana', TAO: 'bittensor', TRX: 'tron', XLM: 'stellar', XMR: 'monero', XRP: 'ripple', XTZ: 'tezos' },
        ...{ ZKSYNC: 'zksyncera' },
      },
    },
  },
  simpleswap: {
    ...none,
    name: 'simpleswap',
    newestFirst: false,
    hasExpectedAmount: true,
    pageSize: 100,
    keyed: ['listCurrencies', 'getRate', 'createTransaction', 'getTransaction'],
    depositMemo: ['XLM', 'XRP'],
    maxResponseBytes: 8_388_608,
    networks: { byName: { HYPEEVM: 'hyperevm', PLS: 'pulse', POLYGON: 'matic', ZKSYNC: 'zksera' } },
    assets: {
      AVAX: { coin: 'avaxc', network: 'avaxc' },
      BNB: { coin: 'bnb-bsc', network: 'bsc' },
      MON: { coin: 'monad', network: 'monad' },
    },
  },
  fixedfloat: {
    ...none,
    name: 'fixedfloat',
    optionalSettings: { refcode: 'text', afftax: 'number' },
    actions: {
      refundTransaction: { offeredIn: ['held'], isReported: false, takesAddress: true },
      continueTransaction: { offeredIn: ['held'], isReported: false, takesAddress: false },
    },
    newestFirst: false,
    hasExpectedAmount: true,
    pageSize: 100,
    keyed: ['listCurrencies', 'getRate', 'createTransaction', 'getTransaction'],
    depositMemo: ['XLM', 'XRP'],
    assets: {
      ...{ BNB: { code: 'BSC' }, DAI: { code: 'DAIETH' }, ETHARB: { code: 'ETHARBITRUM' }, POL: { code: 'MATIC' } },
      ...{ USDCARB: { code: 'USDCARBITRUM' }, USDCBEP20: { code: 'USDCBSC' }, USDCERC20: { code: 'USDCETH' } },
      ...{ USDCPOLYGON: { code: 'USDCMATIC' }, USDTARB: { code: 'USDTARBITRUM' }, USDTBEP20: { code: 'USDTBSC' } },
      ...{ USDTERC20: { code: 'USDT' }, USDTPOLYGON: { code: 'USDTMATIC' }, USDTTRC20: { code: 'USDTTRC' } },
    },
  },
} as const satisfies Readonly<Record<string, ProviderPromises>>
