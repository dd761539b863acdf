/** A provider's currency list, read page by page, whole or not at all. */
import { Fault } from '../domain/fault.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import type { Currency } from '../domain/swap.ts'

/** The largest page that the service has (docs/service.md §8). */
const pageSize = 100
const maxRows = 10_000
/** How often a list is read whose rows move from page to page meanwhile. */
const maxPasses = 3

interface WholeList {
  readonly rows: readonly Currency[]
  readonly provider: string | undefined
}

/** Throws where the list ends before the total that any of its pages names. Rows that are not of the form count as read. */
export async function readCurrencies(service: SwapService, context: Context): Promise<WholeList> {
  const rows = new Map<string, Currency>()
  for (let pass = 1; ; pass++) {
    const known = rows.size
    const { isShifting, provider } = await readPages(service, context, rows)
    if (!isShifting || (pass > 1 && rows.size === known)) return { rows: [...rows.values()], provider }
    if (pass === maxPasses) throw brokeOff()
  }
}

/** Adds what is new to `rows`. A row on two pages is there twice, or has moved, and another was missed. */
async function readPages(
  service: SwapService,
  context: Context,
  rows: Map<string, Currency>,
): Promise<{ readonly isShifting: boolean; readonly provider: string | undefined }> {
  const pageOf = new Map<string, number>()
  let total = 0
  let read = 0
  let isShifting = false
  let before = ''
  for (let page = 1; ; page++) {
    const { body, provider } = await service.call('listCurrencies', { page, size: pageSize }, context)
    const { items, dropped = 0 } = body
    total = Math.max(total, body.total)
    read += items.length + dropped
    if (Math.max(total, read) > maxRows) throw tooLong()
    const keys = items.map(keyOf)
    const isSamePage = keys.length > 0 && keys.join('\n') === before
    if (isSamePage || (items.length + dropped === 0 && read < total)) throw brokeOff()
    for (const [at, key] of keys.entries()) {
      isShifting ||= pageOf.getOrInsert(key, page) !== page
      rows.getOrInsert(key, items[at] as Currency)
    }
    if (read >= total) return { isShifting, provider }
    before = keys.join('\n')
  }
}

function keyOf({ code, coin, network }: Currency): string {
  return `${code ?? coin}\n${network ?? ''}`
}

function brokeOff(): Fault {
  return new Fault('unreadable', "The provider's list of currencies broke off; please try again later.")
}

function tooLong(): Fault {
  return new Fault('unreadable', "The provider's list of currencies is too long.")
}
