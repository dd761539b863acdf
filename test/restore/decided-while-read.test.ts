/** docs/contract-operators.md §10.6: what a person decides while the orders are read, some in each turn of the event loop. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../src/ledger/index.ts'
import { facts } from '../ledger/samples.ts'

test('an order that is decided meanwhile is not shown, and not decided twice', async () => {
  const stores = await openLedger('sqlite::memory:')
  onTestFinished(stores.close)
  const { restores } = stores
  const ids = Array.from({ length: 1_200 }, (_, at) => `order-${String(at).padStart(4, '0')}`)
  await restores.keep(
    ids.map((id) => ({ provider: 'alpha', id, reports: [facts(id).transaction], hasDetails: true, size: undefined })),
  )
  const whileReading: string[] = []
  for (let turns = 0; ; turns++) {
    const last = ids.pop() ?? ''
    let isRead = false
    const reading = restores.undecided().finally(() => {
      isRead = true
    })
    for (let n = 0; n < turns; n++) await turn()
    expect(await restores.dismiss('alpha', last, 'note', 'tester')).toEqual({ freed: [] })
    // After the last slice there is one more.
    for (let n = 0; n < 2; n++) await turn()
    const isOver = isRead
    const shown = (await reading).map(({ id }) => id)
    expect(shown).toContain(ids[0])
    if (isOver) break
    expect(shown).not.toContain(last)
    expect(await restores.dismiss('alpha', last, 'note', 'tester')).toBeUndefined()
    whileReading.push(last)
  }
  expect(whileReading.length).toBeGreaterThan(2)
})
