import { describe, expect, it } from 'vitest'
import { contextOf, scripted } from '../../../test/support/service.ts'
import type { Caller } from '../../domain/service.ts'
import { weighted } from './dispatch.ts'

const candidates = ['alpha', 'beta', 'gamma'].map((tag) => ({ tag, service: scripted(() => ({ body: {} as never })) }))
const order = (caller: Caller, weights: Readonly<Record<string, number>>): readonly string[] =>
  weighted(new Map(Object.entries(weights)))
    .order(candidates, contextOf({ caller }))
    .map(({ tag }) => tag)
const equal = { alpha: 1, beta: 1, gamma: 1 }

describe('W6: weighted', () => {
  it('one with weight 0, or with none, takes nothing and is no fallback', () => {
    for (const identity of ['a', 'b', 'c', 'd']) {
      expect(order({ address: '', identity }, { alpha: 5, beta: 0, gamma: 1 }).toSorted()).toEqual(['alpha', 'gamma'])
      expect(order({ address: '', identity }, { alpha: 5 })).toEqual(['alpha'])
    }
    expect(order({ address: '', identity: 'a' }, { beta: 0 })).toEqual([])
  })

  it('goes by the identity, wherever it calls from and with whichever key', () => {
    for (const identity of Array.from({ length: 50 }, (_, at) => `account-${at}`)) {
      const orders = ['192.0.2.1', '198.51.100.2', ''].map((address) => order({ address, identity, key: address }, equal).join())
      expect(new Set(orders).size).toBe(1)
    }
  })

  it('uses the address as limits do, without a key: IPv6 by /64', () => {
    const of = (address: string): string => order({ address, isKeyUnknown: true }, equal).join()
    expect(of('2001:db8:1:2::1')).toBe(of('2001:db8:1:2:ffff::9'))
    expect(of('::ffff:192.0.2.7')).toBe(of('192.0.2.7'))
    const networks = Array.from({ length: 64 }, (_, at) => of(`2001:db8:1:${at.toString(16)}::1`))
    expect(new Set(networks).size).toBeGreaterThan(3)
  })

  it('an identity that looks like an address is not that address', () => {
    const same = Array.from({ length: 64 }, (_, at) => `192.0.2.${at}`).filter(
      (address) => order({ address }, equal).join() === order({ address: '', identity: address }, equal).join(),
    )
    expect(same.length).toBeLessThan(40)
  })

  it('omits a provider that is not a candidate, and keeps the order of the others', () => {
    const caller = { address: '', identity: 'acme' }
    const whole = order(caller, equal)
    const [first] = whole
    const rest = weighted(new Map(Object.entries(equal))).order(
      candidates.filter(({ tag }) => tag !== first),
      contextOf({ caller }),
    )
    expect(rest.map(({ tag }) => tag)).toEqual(whole.slice(1))
  })
})
