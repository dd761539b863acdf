import { expect, test } from 'vitest'
import { maxUnresolved, type UnresolvedCursor } from '../../core/ledger-admin.ts'
import type { OperatorParts } from '../stores.ts'
import { unresolvedRoutes } from './transactions.ts'

test('a page of creates that is full names the next one, and the last one names none', async () => {
  const creates = Array.from({ length: maxUnresolved + 1 }, (_, at) => ({ intent: `create~${at}`, attemptedAt: at }))
  const ledgerAdmin = {
    unresolved: async (after?: UnresolvedCursor) =>
      creates.filter(({ attemptedAt }) => attemptedAt > (after?.attemptedAt ?? -1)).slice(0, maxUnresolved),
    needPerson: async () => [],
  }
  const stores = { ledgerAdmin, audit: { append: async () => {} } }
  const [list] = unresolvedRoutes({ stores } as unknown as OperatorParts)
  const read = (query: object) => list?.handle({ parameter: '', query, body: undefined, actor: 'alice' })
  const first = await read({})
  expect(first?.body).toHaveLength(maxUnresolved)
  const after = new URL(first?.next ?? '', 'http://gateway').searchParams.get('after')
  const last = await read({ after })
  expect(last?.body).toMatchObject([{ intent: `create~${maxUnresolved}` }])
  expect(last).not.toHaveProperty('next')
  expect(() => list?.handle({ parameter: '', query: { after: 'x' }, body: undefined, actor: 'alice' })).toThrow('after')
})
