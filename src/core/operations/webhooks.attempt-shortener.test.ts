import { expect, test } from 'vitest'
import { secretIn, secretPart } from './secret-ids.ts'
import { attemptShortener } from './webhooks.ts'

const hasPlainIds = (tag: string): boolean => tag !== 'ff'
const id = 'ABC123.k9Zq3TtYw8LmN2v'

test.each([`got ff~${id}`, '{"next":"/orders/ff%7EABC123.k9Zq3TtYw8LmN2v"}', `order ${id} is known`, 'order ABC123.k9Zq3TtYw8L'])(
  'the secret part of the id that was sent is in no response that is shown: %s',
  (body) => {
    const { body: shown } = attemptShortener('https://hooks.example/x')(
      { at: 1, status: 400, ms: 1, body },
      secretPart('ff', id, hasPlainIds),
    )
    expect(shown).toContain('ABC123')
    expect(shown).not.toContain('k9Zq3')
  },
)

test('it is found in what was sent', () => {
  expect(secretIn(`{"data":{"id":"alpha~a.b","other":"ff~${id}"}}`, hasPlainIds)).toBe('k9Zq3TtYw8LmN2v')
  expect(secretIn('{"data":{"id":"alpha~a.b"}}', hasPlainIds)).toBeUndefined()
})
