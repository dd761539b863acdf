import { expect, it } from 'vitest'
import { knownForms } from '../forms/index.ts'
import { checkParts } from './checks.ts'
import { Faults, validParts } from './faults.ts'

const provider = (more: object = {}): object => ({ form: 'A', url: 'http://127.0.0.1/v2', key: 'k', ...more })

function faultsOf(routing: object, mode = 'managed', beta: object = {}): readonly string[] {
  const faults = new Faults()
  const tree = {
    auth: { mode },
    providers: { alpha: provider(), beta: provider(beta), 'gamma-1': provider({ tag: 'gamma' }) },
    routing,
  }
  checkParts(validParts(tree as never), undefined, knownForms, faults)
  return faults.all.map(({ path, message }) => `${path}: ${message}`)
}

const providers = ['alpha', 'beta']

it.each<[string, object, readonly string[]]>([
  ['weights for all', { strategy: 'weighted', weights: { alpha: '90', beta: '10' } }, []],
  ['a weight of 0', { strategy: 'weighted', weights: { alpha: '1000', beta: '0' } }, []],
  ['weights that another strategy does not use', { weights: { alpha: '90', beta: '10' } }, []],
  ['weighted without weights', { strategy: 'weighted' }, ['routing.weights: is needed where routing.strategy is weighted']],
  ['a provider without a weight', { strategy: 'weighted', weights: { alpha: '1' } }, ['routing.weights.beta: is missing']],
  ['only zeros', { strategy: 'weighted', weights: { alpha: '0', beta: '0' } }, ['routing.weights: must not all be 0']],
  [
    'a weight of one that is not routed',
    { weights: { alpha: '1', beta: '1', 'gamma-1': '1' } },
    ['routing.weights.<7 characters>: is not in routing.providers'],
  ],
  ['tags to pick, also of one that is not routed', { pick: ['beta', 'gamma'] }, []],
  ['a name to pick that is no tag', { pick: ['gamma-1'] }, ['routing.pick.0: is not the tag of a provider']],
  ['a tag to pick twice', { pick: ['beta', 'beta'] }, ['routing.pick.1: is given twice']],
])('routing with %s', (_, routing, faults) => {
  expect(faultsOf({ providers, ...routing })).toEqual(faults)
})

it('a single provider in passthrough mode may have a weight', () => {
  expect(faultsOf({ providers: ['alpha'], strategy: 'weighted', weights: { alpha: '1' } }, 'passthrough')).toEqual([])
})

it('a provider with faults of its own can still be in pick', () => {
  expect(faultsOf({ providers, pick: ['beta'] }, 'managed', { url: 'nowhere' })).toEqual([])
})
