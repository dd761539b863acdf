/** Facts from the documentation of real providers, next to their stand-ins; none of them is read from a form. */
import { changelly, operatorKey } from './stand-ins/changelly.ts'
import { changenow } from './stand-ins/changenow.ts'
import type { Dialect, Operation } from './stand-ins/exchange.ts'
import { exolix } from './stand-ins/exolix.ts'
import { fixedfloat } from './stand-ins/fixedfloat.ts'
import { affiliateId, letsexchange } from './stand-ins/letsexchange.ts'
import { accountId, sideshift } from './stand-ins/sideshift.ts'
import { simpleswap } from './stand-ins/simpleswap.ts'
import { stealthex } from './stand-ins/stealthex.ts'

export interface Documented {
  readonly dialect: Dialect
  readonly key: string
  /** What signs, beside the key; undefined: nothing does. */
  readonly secret: string | undefined
  readonly settings: Readonly<Record<string, string>>
  /** The calls of one quote. */
  readonly quoteCalls: readonly Operation[]
  /** That of the list of currencies; undefined: none is needed. */
  readonly currenciesKey: string | undefined
  /** The types of rate that it has. */
  readonly rateTypes: readonly ('fixed' | 'float')[]
  /** Those with which it takes an amount to be received. */
  readonly receivedRateTypes: readonly ('fixed' | 'float')[]
  /** The header of quotes and creates that has the address of the user; undefined: it needs none. */
  readonly addressHeader: string | undefined
  /** Whether one word names an asset and its network. */
  readonly isNamedByCode: boolean
  /** Whether its list has the contracts of tokens. */
  readonly listsContracts: boolean
  /** Whether it gets the address for a refund with the create, and not later. */
  readonly takesRefund: boolean
  /** Whether a get needs the key. */
  readonly isGetKeyed: boolean
  /** The status for a wrong key. */
  readonly wrongKeyStatus: 401 | 403
  /** Whether there may be no largest amount. */
  readonly mayLackMaximum: boolean
  /** Whether a fixed create takes the id of a quote. */
  readonly hasRateIds: boolean
  readonly hasList: boolean
  /** Whether what refuses the amount of a float create has the limits; else the last call of a quote has them. */
  readonly hasLimitsInCreates: boolean
  /** Subtracted from what is received. */
  readonly networkFee: number
  /** Where the header of the call has the key; undefined: it is signed. */
  readonly header: string | undefined
  /** Its words, what each means here, and whether a person should look. */
  readonly statuses: readonly (readonly [word: string, status: string, attention?: 'failed' | 'held'])[]
  /** Words of assets by the table's codes, where they are not those of `common`. */
  readonly words: Readonly<Record<string, string>>
}

const key = 'key-at-the-provider'
const plain = {
  key,
  secret: undefined,
  currenciesKey: key,
  settings: {},
  rateTypes: ['float', 'fixed'],
  receivedRateTypes: ['float', 'fixed'],
  addressHeader: undefined,
  isNamedByCode: false,
  listsContracts: true,
  takesRefund: true,
  isGetKeyed: true,
  wrongKeyStatus: 401,
  mayLackMaximum: true,
  hasRateIds: true,
  hasList: true,
  hasLimitsInCreates: true,
  networkFee: 0,
  quoteCalls: ['quote'],
} as const satisfies Partial<Documented>

export const documented = {
  exolix: {
    ...plain,
    dialect: exolix,
    hasRateIds: false,
    header: 'authorization',
    statuses: [
      ['wait', 'wait'],
      ['confirmation', 'confirmation'],
      ['confirmed', 'confirmed'],
      ['exchanging', 'exchanging'],
      ['sending', 'sending'],
      ['success', 'success'],
      ['overdue', 'overdue'],
      ['refund', 'exchanging'],
      ['refunded', 'refunded'],
    ],
    words: {
      ETH: 'ETH ETH',
      USDTERC20: 'USDT ETH',
      USDTTRC20: 'USDT TRX',
      XRP: 'XRP XRP',
      POL: 'POL MATIC',
      USDTPOLYGON: 'USDT MATIC',
    },
  },
  changenow: {
    ...plain,
    dialect: changenow,
    currenciesKey: undefined,
    receivedRateTypes: ['fixed'],
    header: 'x-changenow-api-key',
    quoteCalls: ['quote', 'limits'],
    statuses: [
      ['new', 'wait'],
      ['waiting', 'wait'],
      ['confirming', 'confirmation'],
      ['exchanging', 'exchanging'],
      ['verifying', 'exchanging', 'held'],
      ['sending', 'sending'],
      ['failed', 'sending', 'failed'],
      ['finished', 'success'],
      ['refunded', 'refunded'],
      ['expired', 'overdue'],
    ],
    words: {
      ...{ ETH: 'eth eth', USDTERC20: 'usdt eth', USDTTRC20: 'usdt trx', XRP: 'xrp xrp', AVAX: 'avax cchain' },
      ...{ USDTAVAXC: 'usdt avaxc', USDTPOLYGON: 'usdt matic' },
    },
  },
  letsexchange: {
    ...plain,
    dialect: letsexchange,
    wrongKeyStatus: 403,
    hasLimitsInCreates: false,
    header: 'authorization',
    settings: { affiliateId },
    statuses: [
      ['wait', 'wait'],
      ['confirmation', 'confirmation'],
      ['confirmed', 'confirmed'],
      ['exchanging', 'exchanging'],
      ['aml_check_failed', 'exchanging', 'held'],
      ['sending', 'sending'],
      ['transferring', 'sending'],
      ['sending_confirmation', 'sending'],
      ['success', 'success'],
      ['overdue', 'overdue'],
      ['refund', 'exchanging'],
      ['canceled', 'wait', 'failed'],
      ['error', 'wait', 'failed'],
    ],
    words: {
      ...{ ETH: 'ETH ETH', USDTERC20: 'USDT ERC20', USDTTRC20: 'USDT TRC20', TRX: 'TRX TRX', BNB: 'BNB BNB', XRP: 'XRP XRP' },
      USDTBEP20: 'USDT BEP20',
    },
  },
  stealthex: {
    ...plain,
    dialect: stealthex,
    hasLimitsInCreates: false,
    receivedRateTypes: ['fixed'],
    header: 'authorization',
    quoteCalls: ['quote', 'limits'],
    statuses: [
      ['waiting', 'wait'],
      ['confirming', 'confirmation'],
      ['exchanging', 'exchanging'],
      ['verifying', 'exchanging', 'held'],
      ['sending', 'sending'],
      ['failed', 'sending', 'failed'],
      ['finished', 'success'],
      ['refunded', 'refunded'],
      ['expired', 'overdue'],
    ],
    words: {
      ...{ ETH: 'eth mainnet', USDTERC20: 'usdt eth', USDTTRC20: 'usdt trx', POL: 'pol mainnet', XRP: 'xrp mainnet' },
      ...{ USDTPOLYGON: 'usdt matic', ETHARB: 'eth arbitrum', AVAX: 'avax avax-c', USDTAVAXC: 'usdt avax-c', OSMO: 'osmo cosmos' },
    },
  },
  changelly: {
    ...plain,
    dialect: changelly,
    key: operatorKey,
    isNamedByCode: true,
    receivedRateTypes: ['fixed'],
    header: undefined,
    networkFee: 0.0005,
    statuses: [
      ['new', 'wait'],
      ['waiting', 'wait'],
      ['confirming', 'confirmation'],
      ['exchanging', 'exchanging'],
      ['hold', 'exchanging', 'held'],
      ['sending', 'sending'],
      ['failed', 'sending', 'failed'],
      ['finished', 'success'],
      ['refunded', 'refunded'],
      ['overdue', 'overdue'],
      ['expired', 'overdue'],
    ],
    words: {
      ...{ ETH: 'eth ethereum', USDTERC20: 'usdt20 ethereum', USDTTRC20: 'usdtrx tron', XRP: 'xrp ripple', AVAX: 'avaxc avaxc' },
    },
  },
  sideshift: {
    ...plain,
    dialect: sideshift,
    currenciesKey: undefined,
    settings: { affiliateId: accountId },
    header: 'x-sideshift-secret',
    addressHeader: 'x-user-ip',
    rateTypes: ['fixed'],
    receivedRateTypes: ['fixed'],
    isGetKeyed: false,
    mayLackMaximum: false,
    hasList: false,
    quoteCalls: ['quote', 'limits'],
    statuses: [
      ['waiting', 'wait'],
      ['pending', 'confirmation'],
      ['processing', 'exchanging'],
      ['review', 'exchanging', 'held'],
      ['multiple', 'exchanging', 'held'],
      ['refund', 'exchanging'],
      ['refunding', 'exchanging'],
      ['settling', 'sending'],
      ['dead', 'sending', 'failed'],
      ['settled', 'success'],
      ['refunded', 'refunded'],
      ['expired', 'overdue'],
    ],
    words: {
      ...{ ETH: 'ETH ethereum', USDTERC20: 'USDT ethereum', USDTTRC20: 'USDT tron', USDTAVAXC: 'USDT avax', XRP: 'XRP ripple' },
      ...{ POL: 'POL polygon', AVAX: 'AVAX avax', ETHARB: 'ETH arbitrum' },
    },
  },
  simpleswap: {
    ...plain,
    dialect: simpleswap,
    hasList: false,
    hasLimitsInCreates: false,
    header: 'x-api-key',
    quoteCalls: ['quote', 'limits'],
    statuses: [
      ['waiting', 'wait'],
      ['confirming', 'confirmation'],
      ['exchanging', 'exchanging'],
      ['verifying', 'exchanging', 'held'],
      ['sending', 'sending'],
      ['failed', 'sending', 'failed'],
      ['finished', 'success'],
      ['refunded', 'refunded'],
      ['expired', 'overdue'],
    ],
    words: {
      ...{ ETH: 'eth eth', USDTERC20: 'usdt eth', USDTTRC20: 'usdt trx', XRP: 'xrp xrp', POL: 'pol matic' },
      ...{ USDTPOLYGON: 'usdt matic', AVAX: 'avaxc avaxc', ETHARB: 'eth arbitrum' },
    },
  },
  fixedfloat: {
    ...plain,
    dialect: fixedfloat,
    secret: 'secret-at-the-provider',
    isNamedByCode: true,
    listsContracts: false,
    takesRefund: false,
    hasRateIds: false,
    hasList: false,
    hasLimitsInCreates: false,
    header: undefined,
    statuses: [
      ['NEW', 'wait'],
      ['PENDING', 'confirmation'],
      ['EXCHANGE', 'exchanging'],
      ['EMERGENCY', 'exchanging', 'held'],
      ['WITHDRAW', 'sending'],
      ['DONE', 'success'],
      ['EXPIRED', 'overdue'],
    ],
    words: {
      ...{ ETH: 'ETH ETH', USDTERC20: 'USDT ETH', USDTTRC20: 'USDTTRC TRX', XRP: 'XRP XRP', POL: 'MATIC MATIC' },
      ...{ USDTPOLYGON: 'USDTMATIC MATIC', ETHARB: 'ETHARBITRUM ARBITRUM' },
    },
  },
} as const satisfies Record<string, Documented>

/** What a configuration needs for it beside its form and URL. */
export function configured({ key: own, secret, settings, addressHeader }: Documented): object {
  return {
    key: own,
    settings,
    ...(secret !== undefined && { secret }),
    ...(addressHeader !== undefined && { forwardAddress: true }),
  }
}

export type ProviderName = keyof typeof documented
export const providerNames = Object.keys(documented) as readonly ProviderName[]
