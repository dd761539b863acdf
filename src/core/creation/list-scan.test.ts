import { describe, expect, test } from 'vitest'
import type { Amount } from '../../domain/amount.ts'
import { Fault } from '../../domain/fault.ts'
import type { Page, Transaction, TransactionQuery } from '../../domain/swap.ts'
import { BrokenList, ListScan, type ReadPage } from './list-scan.ts'

const row = (id: string, overrides: Partial<Transaction> = {}): Transaction => ({
  id,
  amountIn: '1' as Amount,
  createdAt: '2026-03-01T10:00:00Z',
  ...overrides,
})
const rows = (count: number, prefix = 'r'): Transaction[] => Array.from({ length: count }, (_, at) => row(`${prefix}${at}`))

/** A list that `change` may change before the n-th call. */
function listOf(start: readonly Transaction[], change: (call: number, list: Transaction[]) => void = () => {}, size = 100) {
  const list = [...start]
  const pages: number[] = []
  const readPage: ReadPage = async ({ page, size: requestedSize }: TransactionQuery): Promise<Page<Transaction>> => {
    pages.push(page)
    change(pages.length, list)
    const rowsOnPage = Math.min(requestedSize, size)
    return { items: list.slice((page - 1) * rowsOnPage, page * rowsOnPage), total: list.length }
  }
  return { readPage, pages, list }
}
const scan = (): ListScan => new ListScan({ window: {}, since: 0, startedAt: 0, pageSize: 100 })
const idsOf = (read: Awaited<ReturnType<ListScan['finish']>>): unknown[] => read.map(({ reported }) => reported.id)

describe('L25: a list is complete', () => {
  test.each([0, 1, 100, 101, 250])('of %i rows when its end is reached and its first page agrees', async (count) => {
    const { readPage, pages } = listOf(rows(count))
    expect(idsOf(await scan().finish(readPage))).toHaveLength(count)
    // A total that is one full page may be that page's alone.
    const last = count === 100 ? 2 : Math.max(1, Math.ceil(count / 100))
    expect(pages).toEqual([...Array.from({ length: last }, (_, at) => at + 1), 1])
  })

  test('if its total is the number of rows of each page', async () => {
    const list = rows(250)
    const readPage: ReadPage = async ({ page }) => {
      const items = list.slice((page - 1) * 100, page * 100)
      return { items, total: items.length }
    }
    expect(await scan().finish(readPage)).toHaveLength(250)
  })

  test.each([100, 200])('of %i rows without a total, where the page behind the last is empty', async (count) => {
    const list = rows(count)
    const readPage: ReadPage = async ({ page }) => {
      const items = list.slice((page - 1) * 100, page * 100)
      return { items, total: (page - 1) * 100 + items.length, hasMore: items.length === 100 }
    }
    expect(await scan().finish(readPage)).toHaveLength(count)
  })

  test('if its pages are shorter than requested', async () => {
    const { readPage, pages } = listOf(rows(50), undefined, 20)
    expect(await scan().finish(readPage)).toHaveLength(50)
    expect(pages).toEqual([1, 2, 3, 1])
  })

  test.each<[string, (page: number) => number, Page<Transaction> | Fault, boolean]>([
    ['has further rows', (page) => page, { items: rows(20, 'more'), total: 20 }, false],
    ['is empty', (page) => page, { items: [], total: 0 }, true],
    ['has the same rows', () => 1, { items: rows(20), total: 20 }, true],
    ['is refused', (page) => page, new Fault('invalid', 'no such page'), true],
    ['cannot be read', (page) => page, new Fault('failed', 'broken'), false],
  ])('where it decides that nothing was created, if the page behind its only one %s', async (_, pageOf, second, isWhole) => {
    const readPage: ReadPage = async ({ page }) => {
      if (pageOf(page) === 1) return { items: rows(20), total: 20 }
      if (second instanceof Fault) throw second
      return second
    }
    const scan = new ListScan({ window: {}, since: 0, startedAt: 0, pageSize: 100, decidesNotCreated: true })
    const read = scan.finish(readPage)
    if (isWhole) expect(await read).toHaveLength(20)
    else await expect(read).rejects.toBeInstanceOf(Fault)
  })

  test('if rows were added at its beginning: they are included', async () => {
    const { readPage, pages } = listOf(rows(150), (call, list) => call === 2 && list.unshift(row('new')))
    expect(idsOf(await scan().finish(readPage))).toContain('new')
    expect(pages).toEqual([1, 2, 1, 1])
  })

  test('if more rows were added than a page has', async () => {
    const { readPage } = listOf(rows(150), (call, list) => call === 3 && list.unshift(...rows(250, 'n')))
    expect(await scan().finish(readPage)).toHaveLength(400)
  })

  test('if a row was added at its end', async () => {
    const { readPage, pages } = listOf(rows(150), (call, list) => call === 3 && list.push(row('new')))
    expect(idsOf(await scan().finish(readPage))).toContain('new')
    expect(pages).toEqual([1, 2, 1, 2, 1])
  })

  test('if a row is twice on one page: it counts twice', async () => {
    const { readPage } = listOf([row('one'), row('one'), row('two')])
    expect(idsOf(await scan().finish(readPage))).toEqual(['one', 'one', 'two'])
  })

  test.each([true, undefined])(
    'P42: if it repeats one page for ever (hasMore %s): it is not read to its total',
    async (hasMore) => {
      let calls = 0
      const readPage: ReadPage = async ({ page }) => {
        calls++
        return { items: rows(2), total: hasMore ? page * 2 : 40_000, ...(hasMore && { hasMore }) }
      }
      await expect(scan().finish(readPage)).rejects.toThrow('repeats its pages')
      expect(calls).toBeLessThan(20)
    },
  )

  test('if a duplicate appears only when its first page is read again', async () => {
    const { readPage } = listOf([row('one')], (call, list) => call === 2 && list.unshift(row('twin')))
    expect(idsOf(await scan().finish(readPage))).toEqual(['one', 'twin'])
  })
})

describe('L25: a list is not complete', () => {
  const broken = async (list: ReturnType<typeof listOf>): Promise<void> =>
    expect(scan().finish(list.readPage)).rejects.toThrow(BrokenList)

  test('if its total falls while it is read: a row that moved up is on no page', () =>
    broken(listOf(rows(201), (call, list) => call === 2 && list.splice(50, 1))))

  test('if its total falls when its first page is read again', () =>
    broken(listOf(rows(3), (call, list) => call === 2 && list.pop())))

  test('if its first page has new rows each time', () =>
    broken(listOf(rows(3), (call, list) => call > 1 && list.unshift(row(`new-${call}`)))))

  test('if it ends before its total', async () => {
    const readPage: ReadPage = async ({ page }) => ({ items: page === 1 ? rows(2) : [], total: 3 })
    await expect(scan().finish(readPage)).rejects.toThrow(BrokenList)
  })

  test('if it repeats its first page for ever', async () => {
    const readPage: ReadPage = async () => ({ items: rows(100), total: 250 })
    await expect(scan().finish(readPage)).rejects.toThrow(BrokenList)
  })

  test('if it has over 50,000 rows', async () => {
    const readPage: ReadPage = async () => ({ items: rows(100), total: 50_001 })
    await expect(scan().finish(readPage)).rejects.toThrow(BrokenList)
  })

  test('if its texts would fill the memory', async () => {
    const large = (page: number) =>
      Array.from({ length: 100 }, (_, at) => row(`${page}-${at}`, { depositAddress: 'x'.repeat(20_000) }))
    const readPage: ReadPage = async ({ page }) => ({ items: large(page), total: 50_000 })
    await expect(scan().finish(readPage)).rejects.toThrow(BrokenList)
  })
})

describe('L26: a list that is too long for one run', () => {
  test('is continued, and is complete when its first page agrees', async () => {
    const { readPage, pages, list } = listOf(rows(800))
    let remaining = 3
    const sharing: ReadPage = async (query) => {
      if (remaining-- === 0) throw new Fault('unavailable', 'share')
      return await readPage(query)
    }
    const read = scan()
    for (const during of [1, 2]) {
      await expect(read.finish(sharing)).rejects.toThrow('share')
      list.unshift(row(`between-${during}`))
      remaining = 3
    }
    const ids = idsOf(await read.finish(async (query) => await readPage(query)))
    expect(new Set(ids).size).toBe(802)
    expect(pages.filter((page) => page === 5)).toHaveLength(1)
  })

  test('is not read again just after its completion, for the same creates', async () => {
    const { readPage, pages } = listOf(rows(3))
    const read = scan()
    await read.finish(readPage)
    await read.finish(readPage)
    expect(pages).toEqual([1, 1])
  })

  test('L66: is read again at its beginning for another create, whose transaction may be younger', async () => {
    const { readPage, pages, list } = listOf(rows(150))
    const read = scan()
    await read.finish(readPage, ['one'])
    list.unshift(row('young'))
    expect(idsOf(await read.finish(readPage, ['one']))).not.toContain('young')
    expect(idsOf(await read.finish(readPage, ['one', 'two']))).toContain('young')
    expect(idsOf(await read.finish(readPage, ['two']))).toContain('young')
    expect(pages).toEqual([1, 2, 1, 1, 1])
  })

  test('keeps only the keys of rows that are too old', async () => {
    const { readPage } = listOf([
      row('old', { createdAt: '2020-01-01T00:00:00Z' }),
      row('odd', { createdAt: 'yesterday' }),
      row('new'),
    ])
    const read = new ListScan({ window: {}, since: Date.parse('2026-01-01T00:00:00Z'), startedAt: 0, pageSize: 100 })
    expect(idsOf(await read.finish(readPage))).toEqual(['odd', 'new'])
  })
})

test('a row is kept with each of its members, of whatever type', async () => {
  const paid = row('paid', {
    hasDeposit: true,
    hasActions: false,
    refundAmount: '0.1' as Amount,
    ownAssets: { coinFrom: 'eth', contractTo: '0xdac1' },
    capabilities: ['refund'],
    statusReason: 'kyc',
    txHashIn: undefined,
  })
  const { readPage } = listOf([paid])
  expect(await scan().finish(readPage)).toStrictEqual([{ reported: paid, isReadable: true }])
})

test('rows without an id that are alike on two pages are two, and the list is whole', async () => {
  const unreadable = [{ key: 'null', fields: {} }]
  const readPage: ReadPage = async ({ page }) => ({ items: page > 2 ? [] : rows(99, `p${page}-`), total: 200, unreadable })
  expect(await scan().finish(readPage)).toHaveLength(200)
})

test('L27: an unreadable row counts, and its readable fields are kept', async () => {
  const unreadable = [{ key: 'x'.repeat(300), fields: { amountIn: '2' as Amount } }]
  const readPage: ReadPage = async ({ page }) => ({ items: page === 1 ? [row('one')] : [], total: 2, unreadable })
  expect(await scan().finish(readPage)).toEqual([
    { reported: row('one'), isReadable: true },
    { reported: { amountIn: '2' }, isReadable: false },
  ])
})
