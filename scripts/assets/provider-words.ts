/**
 * The words of real providers for the assets of the table, where they differ from the table's. Each form of a provider repeats
 * the part that it needs.
 *
 * Sources: EdgeApp/edge-exchange-plugins @ e15e6c4 (`src/mappings`, `src/swap/central`), cake-tech/cake_wallet @ 98aa1fd
 * (`lib/exchange/provider`), answers of the providers recorded on 2026-07-29, and for Changelly's tickers a public client's list.
 * `attested` has the networks and codes that one of them names. All other words are the default: unverified until
 * `swapgate assets check` has compared them with the provider's list.
 */

/** By the table's network: the provider's word for every coin, or one for the coin whose own chain it is and one for others. */
export type NetworkWords = Readonly<Record<string, string | { readonly home: string; readonly others: string }>>

export interface ProviderWords {
  /** How the table's word is written if nothing else is said. */
  readonly letters: 'upper' | 'lower'
  /** The word of every coin's own chain. */
  readonly home?: string
  readonly networks: NetworkWords
  /** By the table's code: the provider's ticker, if it is one word for coin and network. */
  readonly tickers?: Readonly<Record<string, string>>
  /** Networks with an attested word. */
  readonly attested: readonly string[]
}

const list = (words: string): readonly string[] => words.trim().split(/\s+/)

export const providerWords: Readonly<Record<string, ProviderWords>> = {
  exolix: {
    letters: 'upper',
    networks: { POLYGON: 'MATIC', ZKSYNC: 'ZKSYNCERA' },
    attested: list(`ADA ALGO ARBITRUM ATOM AVAXC BASE BCH BSC BTC CELO DASH DGB DOGE ETC ETH FIL HBAR LTC OPTIMISM OSMO POLYGON QTUM
      RUNE SOL SUI TON TRX XLM XMR XNO XRP XTZ ZKSYNC`),
  },
  changenow: {
    letters: 'lower',
    networks: {
      AVAXC: { home: 'cchain', others: 'avaxc' },
      MONAD: 'mon',
      OPTIMISM: 'op',
      PLS: 'pulse',
      POLYGON: 'matic',
    },
    attested:
      list(`ADA ALGO ARBITRUM ATOM AVAXC BASE BCH BSC BSV BTC CELO DASH DGB DOGE ETC ETH ETHW FIL HBAR LTC MONAD OPTIMISM OSMO
      PLS POLYGON QTUM SOL SONIC SUI TON TRX XLM XMR XRP XTZ ZEC ZKSYNC`),
  },
  letsexchange: {
    letters: 'upper',
    networks: {
      BSC: { home: 'BNB', others: 'BEP20' },
      ETH: { home: 'ETH', others: 'ERC20' },
      HYPEEVM: { home: 'HYPEEVM', others: 'HYPE' },
      POLYGON: 'POL',
      TRX: { home: 'TRX', others: 'TRC20' },
      ZKSYNC: 'ZKSERA',
    },
    attested:
      list(`ADA ALGO ARBITRUM ATOM AVAXC BCH BSC BSV BTC CELO DASH DGB DOGE DOT ETC ETH ETHW FIL HBAR HYPEEVM LTC OPTIMISM OSMO
      PLS POLYGON QTUM RUNE SOL SONIC SUI TON TRX XLM XMR XRP XTZ ZEC ZKSYNC`),
  },
  stealthex: {
    letters: 'lower',
    home: 'mainnet',
    networks: { POLYGON: 'matic' },
    attested: list('ARBITRUM ETH POLYGON'),
  },
  changelly: {
    letters: 'lower',
    networks: {
      ...{ ADA: 'cardano', ALGO: 'algorand', ATOM: 'cosmos', BCH: 'bitcoin_cash', BERA: 'bera', BSC: 'binance_smart_chain' },
      ...{ BSV: 'bitcoin_sv', BTC: 'bitcoin', DGB: 'digibyte', DOT: 'polkadot', ETC: 'ethereum_classic', ETH: 'ethereum' },
      ...{ ETHW: 'ethereum_pow', FIL: 'filecoin', HBAR: 'hedera', LTC: 'litecoin', MONAD: 'mon', OSMO: 'osmo', RUNE: 'thorchain' },
      ...{ SOL: 'solana', TRX: 'tron', XLM: 'stellar', XMR: 'monero', XRP: 'ripple', XTZ: 'tezos', ZEC: 'zcash' },
    },
    tickers: {
      ...{ AVAX: 'avaxc', BNB: 'bnbbsc', ZK: 'zksync', USDTERC20: 'usdt20', USDTTRC20: 'usdtrx', USDTBEP20: 'usdtbsc' },
      ...{ USDTPOLYGON: 'usdtpolygon', USDTTON: 'usdton', USDCERC20: 'usdc', USDCBEP20: 'usdcbsc', USDCAVAXC: 'usdcavac' },
    },
    attested:
      list(`ADA ALGO ARBITRUM ATOM AVAXC BASE BCH BERA BSC BSV BTC CELO CRONOS DASH DGB DOGE DOT ETC ETH ETHW FIL HBAR KAVA LTC
      MONAD OPTIMISM OSMO PLASMA POLYGON QTUM RUNE SEI SOL SONIC SUI TON TRX XLM XMR XRP XTZ ZEC ZKSYNC`),
  },
}
