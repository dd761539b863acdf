/** Tries a provider before a client is routed to it (docs/contract.md §16): public reads and reads with the key, never a create. */
import { Fault } from '../../../domain/fault.ts'
import { fails, type KeyedEnds, read, type TrialCheck, type TriedProvider, works } from './checks.ts'
import { describeFault } from './describe-fault.ts'
import { checkAssets, checkQuote } from './quotes.ts'
import { checkKey, checkList, checkUnknownId } from './transactions.ts'

/** Yields each check as soon as it is made. */
export async function* tryProvider(provider: TriedProvider): AsyncGenerator<TrialCheck> {
  const ends: KeyedEnds = new Map()
  const listing = await read(provider, ends, 'listCurrencies', provider.catalogue.listing(provider.contextOf()))
  yield listing instanceof Fault
    ? fails('currencies', describeFault(listing))
    : works('currencies', `${listing.offers.length} assets are listed`)
  const known = listing instanceof Fault ? undefined : listing
  if (known) yield checkAssets(known, provider)
  yield await checkQuote(provider, ends, 'float', known)
  yield await checkQuote(provider, ends, 'fixed', known)
  yield await checkList(provider, ends)
  yield await checkUnknownId(provider, ends)
  yield checkKey(provider, ends)
}
