/** The size of `npm ci`: small for operators, and with a reason for each large development package. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { diskBytesOf, packagesOf } from './weight.ts'

const mebibyte = 2 ** 20
const running = packagesOf(...Object.keys(manifest.dependencies))

function megabytesOf(paths: Iterable<string>): number {
  return [...paths].reduce((sum, path) => sum + diskBytesOf(path, (name) => name === 'node_modules'), 0) / mebibyte
}

it('npm ci --omit=dev installs under 150 MB beside Node', () => {
  expect(running.size).toBeGreaterThan(Object.keys(manifest.dependencies).length)
  expect(megabytesOf(running)).toBeLessThan(150)
})

it('CONTRIBUTING.md names every development package that brings over 10 MB', () => {
  const contributing = readFileSync('CONTRIBUTING.md', 'utf8')
  const names = Object.keys(manifest.devDependencies)
  const brought = names.map((name) => ({ name, megabytes: megabytesOf(packagesOf(name).difference(running)) }))
  const heavy = brought.filter(({ megabytes }) => megabytes > 10)
  expect(heavy.length).toBeGreaterThan(3)
  expect(heavy.filter(({ name }) => !contributing.includes(`| \`${name}\``))).toEqual([])
})
