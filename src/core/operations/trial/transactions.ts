/** What a provider responses only with a key. */
import { Fault } from '../../../domain/fault.ts'
import { instantsOf } from '../../../domain/instant.ts'
import type { Op, ResponseBody } from '../../../domain/service.ts'
import { fails, type KeyedEnds, read, skipped, type TrialCheck, type TriedProvider, works } from './checks.ts'
import { describeFault } from './describe-fault.ts'

export async function checkList(provider: TriedProvider, ends: KeyedEnds): Promise<TrialCheck> {
  if (!provider.has('listTransactions'))
    return { check: 'list', outcome: 'none', message: 'the form has no list: a create of unknown outcome cannot be found again' }
  if (!provider.hasKey) return skipped('list', 'no key is configured')
  const request = { page: 1, size: 1 }
  const page = await read(
    provider,
    ends,
    'listTransactions',
    provider.service.call('listTransactions', request, provider.contextOf()),
  )
  if (page instanceof Fault) return fails('list', describeFault(page))
  const unreadable = page.body.items.find(({ createdAt }) => instantsOf(createdAt).length === 0)
  if (unreadable) return fails('list', 'the creation time of a row cannot be read: a create of unknown outcome is not found again')
  const [newest] = page.body.items
  const isSilent = newest?.id !== undefined && provider.mustNameNetworks && (await namesNoNetwork(provider, newest.id))
  const hint = isSilent
    ? '; a get names no network: without `networks: unconfirmed` creates of coins that have several stay unknown'
    : ''
  return works('list', `${describePage(page.body)}${hint}`)
}

/** Whether a get has coins without their networks. False where it fails. */
async function namesNoNetwork({ service, contextOf }: TriedProvider, id: string): Promise<boolean> {
  try {
    const { body } = await service.call('getTransaction', { id }, contextOf())
    const isSilent = [body.networkFrom, body.networkTo].every((network) => !network)
    return isSilent && !body.codeFrom && Boolean(body.coinFrom)
  } catch {
    return false
  }
}

function describePage({ items, total, hasMore = false }: ResponseBody<'listTransactions'>): string {
  if (items.length === 0) return 'it is empty, so the form of its rows is not proven'
  return `${hasMore ? 'more than ' : ''}${total} ${total === 1 ? 'transaction' : 'transactions'}`
}

/** An id that no transaction has. */
export async function checkUnknownId(provider: TriedProvider, ends: KeyedEnds): Promise<TrialCheck> {
  if (!provider.hasKey) return skipped('unknown id', 'no key is configured')
  const wasRefused = isRefused(ends)
  const request = { id: crypto.randomUUID().replaceAll('-', '').slice(0, 14) }
  const found = await read(provider, ends, 'getTransaction', provider.service.call('getTransaction', request, provider.contextOf()))
  if (!(found instanceof Fault)) return fails('unknown id', 'the provider has a transaction with an id that was made up')
  if (found.kind === 'notFound') return works('unknown id', '404')
  if (found.kind === 'unavailable' && wasRefused) return skipped('unknown id', 'the key is refused')
  return fails('unknown id', `it must be 404: ${describeFault(found)}`)
}

function isRefused(ends: KeyedEnds): boolean {
  return refusedIn(ends).length > 0
}

function refusedIn(ends: KeyedEnds): readonly Op[] {
  return [...ends].flatMap(([op, end]) =>
    end !== 'done' && (end.kind === 'unauthorized' || end.kind === 'accessRefused') ? [op] : [],
  )
}

export function checkKey({ hasKey, has, lacksAddress }: TriedProvider, ends: KeyedEnds): TrialCheck {
  if (!hasKey) return skipped('key', 'no key is configured')
  const refused = refusedIn(ends)
  const accepted = [...ends].filter(([, end]) => end === 'done').map(([op]) => op)
  const end = ends.get('getTransaction')
  const isShownByGet = end instanceof Fault && end.kind === 'notFound'
  if (refused.length > 0) {
    const isListOnly = refused.every((op) => op === 'listTransactions') && (accepted.length > 0 || isShownByGet)
    if (!isListOnly) return fails('key', `refused for ${refused.join(', ')}`)
    return works('key', 'accepted, but for listTransactions: providers.<name>.listKey is a key for lists')
  }
  if (accepted.length > 0) return works('key', `accepted for ${accepted.join(', ')}`)
  if (isShownByGet && !has('listTransactions')) return works('key', 'accepted, as far as a get of an unknown id can show')
  if (lacksAddress('fixed') || lacksAddress('float')) return skipped('key', 'only a call with the address of a client shows it')
  return fails('key', 'no call shows that it is accepted')
}
