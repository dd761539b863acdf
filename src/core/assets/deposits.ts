/** Deposit addresses that a provider reports: nobody is told to pay to what cannot be one (docs/contract.md §3.6). */
import type { FormatName } from '../../domain/address/formats.ts'
import { type AddressRule, isAddress } from '../../domain/address/rule.ts'
import { isSamePaymentAddress, memoOf } from '../../domain/address/same-address.ts'
import { type Asset, type AssetTable, fold, sameName } from '../../domain/asset.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { valueIn } from '../../domain/context-values.ts'
import { Fault } from '../../domain/fault.ts'
import { type Context, namesByCode } from '../../domain/service.ts'
import type { Currency, DepositMemoNetworks, Pair, SentWords, Transaction } from '../../domain/swap.ts'
import { type Layer, mapResponses, onOperations } from '../layer.ts'
import { type AssetName, type AssetNaming, assetIn, assetNameOf, from, withAssetNames } from './asset-naming.ts'
import type { CachedCurrencyList, CurrencyList } from './currency-list.ts'
import { depositRules, depositRulesOfThen, type NetworkRules, ownerlessComplaint } from './network-rules.ts'
import { assetFromResponse, sentWords } from './translate-assets.ts'

/** The addresses of no swap are longer. */
const maxKeptLength = 600
const maxKeptAddresses = 1_000

/** A get or a row of a list whose deposit address cannot be one has none; a get of a swap that was created here, by the table of then. Runs where asset names are the provider's. */
export function omitImpossibleDeposits(naming: AssetNaming, checksAddresses: boolean): Layer {
  // A swap is read many times, and its addresses cost more to decode than all else that this layer does.
  const payableTo = new BoundedMap<true>({ share: cacheShares.transactions, maxEntries: maxKeptAddresses })
  const payable = (row: Transaction, sent?: SentWords): Transaction => {
    if (!row.depositAddress) return row
    const source = assetFromResponse(assetNameOf(row, from), naming) ?? {}
    const rules = depositRules(withAssetNames({}, source, {}), sent, naming)
    const then = sent?.deposit ? JSON.stringify(sent.deposit) : ''
    const key = `${rules?.network}\n${rules?.contract}\n${then}\n${addressesOf(row)}`
    if (payableTo.get(key)) return row
    if (!isPayable(row, row, rules, { checksAddresses, table: naming.table })) return { ...row, depositAddress: undefined }
    if (key.length <= maxKeptLength) payableTo.set(key, true)
    return row
  }
  return mapResponses({
    getTransaction: (response, _, context) => ({ ...response, body: payable(response.body, valueIn(context, sentWords)) }),
    listTransactions: (response) => ({
      ...response,
      body: { ...response.body, items: response.body.items.map((row) => payable(row)) },
    }),
  })
}

/** All that decides where its money goes. */
function addressesOf(row: Transaction): string {
  const { depositAddress, depositExtraId, withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId } = row
  return `${depositAddress}\n${depositExtraId}\n${withdrawalAddress}\n${withdrawalExtraId}\n${refundAddress}\n${refundExtraId}`
}

type OwnAddresses = Pick<Partial<Transaction>, 'withdrawalAddress' | 'withdrawalExtraId' | 'refundAddress' | 'refundExtraId'>

/**
 * Whether a deposit can be paid and arrives: the address fits the rule of its network, is neither a text for people nor a payment URI,
 * has an owner, and is not, with its memo, one of the swap's own addresses, where nobody would ever see it.
 */
export function isPayable(
  { depositAddress = '', depositExtraId }: Pick<Transaction, 'depositAddress' | 'depositExtraId'>,
  { withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId }: OwnAddresses,
  rules: NetworkRules | undefined,
  { checksAddresses, table }: { readonly checksAddresses: boolean; readonly table: AssetTable },
): boolean {
  const own = [
    { address: withdrawalAddress, extraId: withdrawalExtraId },
    { address: refundAddress, extraId: refundExtraId },
  ]
  return (
    isDepositAddress(depositAddress, rules, checksAddresses) &&
    !(checksAddresses && rules && ownerlessComplaint(depositAddress, rules, table) !== undefined) &&
    !own.some((address) => isSamePaymentAddress(address, { address: depositAddress, extraId: depositExtraId }))
  )
}

function isDepositAddress(depositAddress: string, asset: Pick<Asset, 'address'> | undefined, checksAddresses: boolean): boolean {
  if (!/^[!-~]+$/.test(depositAddress) || /[<>"]/.test(depositAddress)) return false
  const rule = asset?.address
  if (rule && isAddress(depositAddress, rule)) return true
  const [scheme] = /^[a-z][a-z0-9+.-]*:/i.exec(depositAddress) ?? []
  const isUri = scheme !== undefined && !(rule && hasPrefix(rule, scheme.toLowerCase()))
  return !isUri && !(rule && checksAddresses)
}

/** Prefixes with a colon that are part of an address, by format. */
const prefixes: Partial<Record<FormatName, string>> = { BCH: 'bitcoincash:', KAS: 'kaspa:', RONIN: 'ronin:' }

function hasPrefix({ format, pattern }: AddressRule, prefix: string): boolean {
  return format === undefined ? pattern?.source.includes(prefix) === true : prefixes[format] === prefix
}

// Networks with shared deposit addresses: a deposit without its memo is lost (docs/contract.md §3.5).

interface RequireDepositMemoOptions {
  readonly shared: SharedDeposits
  /** Whether the provider supports memos. */
  readonly acceptsMemos: boolean
  /** Whether a missing memo is only counted: its address is shown. */
  readonly showsWithoutMemo: boolean
  readonly naming: AssetNaming
}

/**
 * For these assets, a get or a row of a list without a memo has no deposit address. If the provider does not support memos,
 * they are not offered. Runs where asset names are the provider's.
 */
export function requireDepositMemo({ shared, acceptsMemos, showsWithoutMemo, naming }: RequireDepositMemoOptions): Layer {
  if (shared.areNone) return (next) => next
  const refuseWithoutMemoSupport = async (context: Context): Promise<void> => {
    const { pair = {}, clientCapabilities: client } = context
    if (await shared.isShared(pair, context)) throw notOffered(namesByCode(client) ? from.code : from.coin)
  }
  const withoutLostAddress = (row: Transaction, sent?: SentWords): Transaction => {
    const assetName = assetNameOf(row, from)
    return lacksMemo(row) && shared.mayBeShared(assetFromResponse(assetName, naming) ?? assetName, sent)
      ? { ...row, depositAddress: undefined }
      : row
  }
  return onOperations({
    ...(!acceptsMemos && {
      async getRate(request, context, next) {
        await refuseWithoutMemoSupport(context)
        return next.call('getRate', request, context)
      },
    }),
    async createTransaction(request, context, next) {
      await shared.requireFlags(context.pair ?? {}, context)
      if (!acceptsMemos) await refuseWithoutMemoSupport(context)
      return next.call('createTransaction', request, context)
    },
    ...(!showsWithoutMemo && {
      async getTransaction(request, context, next) {
        const response = await next.call('getTransaction', request, context)
        const body = withoutLostAddress(response.body, valueIn(context, sentWords))
        return body === response.body
          ? response
          : { ...response, body, report: { ...response.report, contradicted: ['depositExtraId'] } }
      },
      async listTransactions(request, context, next) {
        const response = await next.call('listTransactions', request, context)
        return { ...response, body: { ...response.body, items: response.body.items.map((row) => withoutLostAddress(row)) } }
      },
    }),
  })
}

function lacksMemo({ depositAddress, depositExtraId }: Transaction): boolean {
  return Boolean(depositAddress) && memoOf(depositAddress, depositExtraId) === undefined
}

/**
 * Of which assets deposit addresses are shared. A coin that the table lacks has them by each word for its network, or, where nothing knows
 * that, by a deposit address of a shared one (`deposits.require-deposit-memo.test.ts`).
 */
export interface SharedDeposits {
  readonly areNone: boolean
  /**
   * Whether a deposit of the pair needs a memo: true only if all possible networks of the asset are shared. Where neither the table nor
   * the provider's list knows its network, the deposit address may tell. `sent`: by the create of then.
   */
  readonly isShared: (pair: Pair, context: Context, depositAddress?: string, sent?: SentWords) => Promise<boolean>
  /** Throws 503 where only the provider's list says whether a deposit of the pair needs a memo, and there is none for a create. */
  readonly requireFlags: (pair: Pair, context: Context) => Promise<void>
  /** Also true if the network is unknown and one of the coin's networks is shared. */
  readonly mayBeShared: (assetName: AssetName, sent?: SentWords) => boolean
}

export function sharedDeposits(
  { networks: names, usesFlags }: DepositMemoNetworks,
  currencyList: CachedCurrencyList,
): SharedDeposits {
  const { naming } = currencyList
  const { table } = naming
  const networks = new Set(names.map(fold))
  const all = table.coins.flatMap(({ assets }) => assets)
  const isOnSharedNetwork = ({ network, aliases }: Asset): boolean => [network, ...aliases].some((name) => networks.has(fold(name)))
  /** Rules for the addresses of the shared networks. */
  const sharedRules = new Set(all.filter(isOnSharedNetwork).flatMap(({ address }) => address ?? []))
  const knownNetworks = new Set(all.map(({ network }) => fold(network)))
  const isFlagged = (asset: Asset, list: CurrencyList | undefined, sent: SentWords | undefined): boolean =>
    usesFlags && (depositRulesOfThen(sent, naming) ?? asset).memo !== 'none' && list?.byAsset.get(asset)?.row.needsMemo === true
  const areShared = (
    { code, coin, network }: AssetName,
    list: CurrencyList | undefined,
    sent: SentWords | undefined,
  ): readonly boolean[] => {
    const isAssetShared = (asset: Asset): boolean => isOnSharedNetwork(asset) || isFlagged(asset, list, sent)
    const asset = code === undefined ? table.find(coin ?? '', network ?? '') : table.byCode(code)
    // The network may have another name now.
    if (asset) return [isAssetShared(asset) || networks.has(fold(network ?? ''))]
    const assets = network === undefined ? table.coin(coin ?? '')?.assets : undefined
    return assets ? assets.map(isAssetShared) : areOutsideShared({ code, coin, network }, list)
  }
  /** Of a coin that the table lacks, or has on other networks. */
  const areOutsideShared = ({ code, coin = '', network }: AssetName, list: CurrencyList | undefined): readonly boolean[] => {
    const isNamed = (name: string | undefined): boolean =>
      name !== undefined && (networks.has(fold(name)) || networks.has(naming.chainOf(code ?? coin, name) ?? ''))
    const rows = (list?.assetsOutsideTable.get(fold(code ?? coin)) ?? []).map(({ row }) => row)
    const meant = rows.filter((row) => network === undefined || !row.network || sameName(row.network, network))
    const isRowShared = (row: Currency): boolean => isNamed(row.network) || (usesFlags && row.needsMemo === true)
    return isNamed(network) || meant.length === 0 ? [isNamed(network)] : meant.map(isRowShared)
  }
  const isSharedAddress = (address: string, { code, coin = '', network }: AssetName): boolean => {
    if (code === undefined ? table.coin(coin) !== undefined : table.byCode(code) !== undefined) return false
    const chain = naming.chainOf(code ?? coin, network)
    if (chain !== undefined && knownNetworks.has(chain)) return false
    // Every chain of Ethereum's kind has these.
    return !/^0x/i.test(address) && sharedRules.values().some((rule) => isAddress(address, rule))
  }
  return {
    areNone: networks.size === 0 && !usesFlags,
    async isShared(pair, context, depositAddress, sent) {
      const assetName = assetNameOf(pair, from)
      if (depositAddress !== undefined && isSharedAddress(depositAddress, assetName)) return true
      const each = areShared(assetName, usesFlags ? await currencyList.readAvailable(context) : undefined, sent)
      return each.length > 0 && each.every(Boolean)
    },
    async requireFlags(pair, context) {
      const asset = usesFlags ? assetIn(pair, from, table) : undefined
      const isDecided = !asset?.memo || asset.memo === 'none' || isOnSharedNetwork(asset)
      if (!isDecided) await currencyList.readForCreate(context)
    },
    mayBeShared: (assetName, sent) => areShared(assetName, currencyList.last(), sent).some(Boolean),
  }
}

function notOffered(field: string): Fault {
  return new Fault('invalid', 'it is not offered here', { field, effect: 'nothingSent', reason: 'not_offered' })
}
