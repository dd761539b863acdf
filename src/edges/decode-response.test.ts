import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Confidential } from '../domain/confidential.ts'
import { detach, removeConfidential } from './decode-response.ts'

const confidential = new Confidential({
  keys: ['provider-key-alpha', 'short'],
  hosts: ['api.alpha.example'],
  names: ['alpha'],
})

test.each(['provider-key-alpha', 'xPROVIDER-KEY-ALPHAx'])('V18: a field with %s is returned', (text) => {
  expect(removeConfidential({ name: 'Bitcoin', icon: text }, confidential, true)).toBe('icon')
})

test.each(['short', 'alpha', 'https://api.alpha.example/icon.svg', ''])('V18: %j in an icon is not a key', (text) => {
  expect(removeConfidential({ name: 'Bitcoin', icon: text }, confidential, true)).toBeUndefined()
})

test.each(['see PROVIDER-key-alpha', 'ask API.Alpha.Example:443', 'Alpha: closed'])('V18: notes with %j are omitted', (notes) => {
  const row: Record<string, unknown> = { name: 'Bitcoin', notes }
  expect(removeConfidential(row, confidential, true)).toBeUndefined()
  expect(row.notes).toBeUndefined()
})

test('V18: other notes stay unchanged', () => {
  const row = { name: 'Bitcoin', notes: 'See https://example.org; alphabet' }
  removeConfidential(row, confidential, true)
  expect(row.notes).toBe('See https://example.org; alphabet')
})

test('V17: a stored part of a large text does not keep the text in memory', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = (): number => {
    collect()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const before = heap()
  const rows = Array.from({ length: 100 }, (_, at) => {
    const text = `${'a long address of somebody '.repeat(2)}${at}${' '.repeat(2 ** 20)}`
    const row: Record<string, unknown> = { address: text.slice(0, 50) }
    detach(row, text)
    return row
  })
  expect(heap() - before).toBeLessThan(20)
  expect(rows).toHaveLength(100)
})
