/** Translates asset names: the table's names towards the client, the provider's towards the provider (docs/contract.md §3, §9). */
import type { Context, Op, Request, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { Contracts, Pair, Transaction } from '../../domain/swap.ts'
import { type Layer, onOperations } from '../layer.ts'
import { assetFromRequest, type ResolvedAsset } from './asset-from-request.ts'
import { assetFromResponse } from './asset-from-response.ts'
import type { Catalogue } from './catalogue.ts'
import type { Listing } from './listing.ts'
import { assetNameOf, from, pairOf, to, withAssetNames } from './pair.ts'

/** `mustBeListed`: assets that the provider's list lacks are refused, because another provider may offer them. */
export function translateAssets(catalogue: Catalogue, mustBeListed: boolean): Layer {
  const resolveBoth = async (op: Op, request: Pair, context: Context): Promise<[ResolvedAsset, ResolvedAsset]> => {
    const isCreate = op === 'createTransaction'
    // One wait for both sides: two would take three quarters of the time budget.
    const options = {
      catalogue,
      readListing: once(() => (isCreate ? catalogue.listingForCreate(context) : catalogue.listing(context))),
      readAvailable: once(() => catalogue.availableListing(context)),
      isCreate,
      mustBeListed,
    }
    const source = await assetFromRequest(assetNameOf(request, from), from, options)
    return [source, await assetFromRequest(assetNameOf(request, to), to, options)]
  }
  const callTranslated = async <O extends 'getRate' | 'createTransaction'>(
    op: O,
    request: Request<O>,
    context: Context,
    next: SwapService,
  ): Promise<ServiceResponse<O>> => {
    const [source, target] = await resolveBoth(op, request, context)
    const pair = withAssetNames({}, source.tableName, target.tableName)
    const translated = withAssetNames(request, source.providerName, target.providerName)
    const response = await next.call(op, translated, { ...context, pair })
    return { ...response, body: withAssetNames(response.body, source.tableName, target.tableName) }
  }
  const bothFromResponse = <Row extends Pair>(row: Row, listing?: Listing | 'unreadable'): Row | undefined => {
    const source = assetFromResponse(assetNameOf(row, from), catalogue.naming, listing)
    const target = assetFromResponse(assetNameOf(row, to), catalogue.naming, listing)
    return source && target && { ...withAssetNames(row, source, target), ownAssets: ownAssetsOf(row) }
  }
  /** Resolves names that configuration and table do not have through the provider's list. */
  const bothFromListing = async <Row extends Pair>(row: Row, context: Context): Promise<Row> => {
    const listing = await catalogue.listing(context).catch(() => 'unreadable' as const)
    return bothFromResponse(row, listing) ?? { ...row, ownAssets: ownAssetsOf(row) }
  }
  return onOperations({
    getRate: (request, context, next) => callTranslated('getRate', request, context, next),
    createTransaction: (request, context, next) => callTranslated('createTransaction', request, context, next),
    getTransaction: (request, context, next) =>
      next.call('getTransaction', request, context).then((response) => {
        const body = bothFromResponse(response.body)
        const withBody = (translated: Transaction) => ({ ...response, body: translated })
        return body ? withBody(body) : bothFromListing(response.body, context).then(withBody)
      }),
    async listTransactions(request, context, next) {
      const response = await next.call('listTransactions', request, context)
      const rowFromResponse = <Row extends Pair>(row: Row) => bothFromResponse(row) ?? bothFromListing(row, context)
      const items = await Promise.all(response.body.items.map(rowFromResponse))
      const unreadable = response.body.unreadable?.map(async ({ key, fields }) => ({ key, fields: await rowFromResponse(fields) }))
      const unreadableRows = unreadable && { unreadable: await Promise.all(unreadable) }
      return { ...response, body: { ...response.body, items, ...unreadableRows } }
    },
  })
}

function ownAssetsOf(row: Pair & Contracts): Pair & Contracts {
  const { contractFrom, contractTo } = row
  return { ...pairOf(row), ...(contractFrom !== undefined && { contractFrom }), ...(contractTo !== undefined && { contractTo }) }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let promise: Promise<T> | undefined
  return () => {
    promise ??= work()
    return promise
  }
}
