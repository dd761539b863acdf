import { hostname, networkInterfaces } from 'node:os'
import { expect, it } from 'vitest'
import { knownForms } from '../forms/index.ts'
import { checkParts, isSelfLoop } from './checks.ts'
import { Faults, knownParts } from './faults.ts'

const provider = (more: object = {}): object => ({ form: 'A', url: 'http://127.0.0.1/v2', key: 'k', ...more })

function faultsOf(routing: object, mode = 'managed', beta: object = {}, sections: object = {}): readonly string[] {
  const faults = new Faults()
  const tree = {
    ...sections,
    auth: { mode },
    providers: { alpha: provider(), beta: provider(beta), 'gamma-1': provider({ tag: 'gamma' }) },
    routing,
  }
  checkParts(knownParts(tree as never, faults), undefined, knownForms, faults)
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

it('workers share a ledger: it is in a file or at a server', () => {
  const withWorkers = (workers: string, url: string) =>
    faultsOf({ providers }, 'managed', {}, { server: { workers }, ledger: { url } }).map((fault) => fault.split(':')[0])
  expect(withWorkers('1', 'sqlite::memory:')).toEqual([])
  for (const workers of ['2', 'auto']) {
    expect(withWorkers(workers, 'sqlite::memory:')).toEqual(['ledger.url'])
    expect(withWorkers(workers, 'sqlite:ledger.db')).toEqual([])
  }
})

const machine = Object.values(networkInterfaces()).flatMap((all = []) => all)
const own = machine.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.2'

it.each([
  ['127.0.0.1', 'http://127.0.0.1:8080/api/v2'],
  ['127.0.0.1', 'http://127.0.0.1:8080/a/api/v2'],
  ['127.0.0.1', 'http://localhost:8080/b/api/v2'],
  ['127.0.0.1', 'http://LOCALHOST.:8080/b/api/v2'],
  ['127.0.0.1', 'http://me.localhost:8080/b/api/v2'],
  ['127.0.0.1', 'http://127.1:8080/a/api/v2'],
  ['127.0.0.1', 'http://2130706433:8080/a/api/v2'],
  ['127.0.0.1', 'http://0.0.0.0:8080/a/api/v2'],
  ['127.0.0.1', 'http://[::ffff:127.0.0.1]:8080/a/api/v2'],
  ['127.0.0.1', 'https://127.0.0.1:8080/a/api/v2'],
  ['localhost', 'http://[::1]:8080/a/api/v2'],
  ['::1', 'http://[::]:8080/a/api/v2'],
  ['0.0.0.0', 'http://127.0.0.1:8080/a/api/v2'],
  ['0.0.0.0', 'http://127.9.8.7:8080/a/api/v2'],
  ['0.0.0.0', `http://${own}:8080/a/api/v2`],
  ['0.0.0.0', `http://${hostname()}:8080/a/api/v2`],
  ['::', 'http://127.0.0.1:8080/a/api/v2'],
  ['::', 'http://[::1]:8080/a/api/v2'],
  ['gateway.example', 'http://gateway.example:8080/a/api/v2'],
])('H12: listening on %s, %s leads back', (host, url) => {
  expect(isSelfLoop(url, { host, port: 8080 })).toBe(true)
})

it.each([
  ['127.0.0.1', 'http://127.0.0.1:8081/a/api/v2'],
  ['127.0.0.1', 'http://127.0.0.2:8080/a/api/v2'],
  ['127.0.0.1', 'http://[::1]:8080/a/api/v2'],
  ['0.0.0.0', 'http://[::1]:8080/a/api/v2'],
  ['0.0.0.0', 'http://192.0.2.1:8080/a/api/v2'],
  ['0.0.0.0', 'http://swap.example:8080/a/api/v2'],
  ['::', 'https://swap.example/a/api/v2'],
])('H12: listening on %s, %s is another', (host, url) => {
  expect(isSelfLoop(url, { host, port: 8080 })).toBe(false)
})

it.each([
  [80, 'http://127.0.0.1', true],
  [443, 'https://127.0.0.1/a', true],
  [80, 'https://127.0.0.1', false],
  [0, 'http://127.0.0.1', false],
])('H12: listening on port %i, %s leads back: %s', (port, url, isOwn) => {
  expect(isSelfLoop(url, { host: '127.0.0.1', port })).toBe(isOwn)
})
