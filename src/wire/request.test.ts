import { expect, it } from 'vitest'
import { compileRequest } from './request.ts'
import { lowerCase, optional } from './table.ts'
import { WireError } from './wire-error.ts'

const codec = compileRequest(
  { from: lowerCase('coinFrom'), net: optional('networkFrom'), amount: 'amountIn' },
  new Set(['from', 'net']),
  false,
)

it('a line in the path is written in its notation, and not in the query', () => {
  const { path, query } = codec.encode({ coinFrom: 'BTC', networkFrom: 'Bitcoin', amountIn: '0.1' })
  expect([path, query]).toEqual([{ from: 'btc', net: 'Bitcoin' }, 'amount=0.1'])
})

it('a required line in the path is needed, an optional one is not', () => {
  expect(codec.encode({ coinFrom: 'BTC', amountIn: '0.1' }).path).toEqual({ from: 'btc' })
  expect(() => codec.encode({ networkFrom: 'Bitcoin', amountIn: '0.1' })).toThrow(WireError)
})
