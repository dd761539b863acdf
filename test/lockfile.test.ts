import { describe, expect, it } from 'vitest'
import lockfile from '../package-lock.json' with { type: 'json' }
import generatorsLockfile from '../tools/generators/package-lock.json' with { type: 'json' }
import toolsLockfile from '../tools/package-lock.json' with { type: 'json' }
import publishedLockfile from '../tools/published/package-lock.json' with { type: 'json' }

interface Entry {
  readonly name?: string
  readonly resolved?: string
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

type Entries = readonly (readonly [path: string, entry: Entry])[]
const entriesOf = (packages: object): Entries => Object.entries(packages as Readonly<Record<string, Entry>>)
const entries = entriesOf(lockfile.packages)

/** A package is looked for in each folder on the way up. */
function isLocked(locked: ReadonlySet<string>, dependent: string, name: string): boolean {
  const parts = dependent === '' ? [] : dependent.split('/node_modules/')
  return [...parts, ''].some((_, up) => {
    const folder = parts.slice(0, parts.length - up).join('/node_modules/')
    return locked.has(folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`)
  })
}

describe.each([
  ['npm ci', entries],
  ['npm --prefix tools ci', entriesOf(toolsLockfile.packages)],
  ['npm --prefix tools/generators ci', entriesOf(generatorsLockfile.packages)],
])('%s', (_, all) => {
  it('finds the packages of every platform in the lock file, so that it installs on each', () => {
    const locked = new Set(all.map(([path]) => path))
    const missing = all.flatMap(([dependent, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !isLocked(locked, dependent, name))
        .map((name) => `${dependent} needs ${name}`),
    )
    expect(all.length).toBeGreaterThan(100)
    expect(missing).toEqual([])
  })

  it('names no registry', () => {
    expect(all.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
  })

  it('installs no package under the name of another', () => {
    expect(all.filter(([path, { name }]) => name !== undefined && path !== '' && !path.endsWith(`node_modules/${name}`))).toEqual(
      [],
    )
  })
})

it('npm --prefix tools/published ci installs the published lists alone, by their hashes', () => {
  const { '': own, ...lists } = publishedLockfile.packages
  const pinned = Object.entries(own.dependencies).map(([name, version]) => [
    `node_modules/${name}`,
    { version, integrity: expect.any(String) },
  ])
  expect(lists).toEqual(Object.fromEntries(pinned))
})

it('S15: brings no package into production that runs a script when it is installed', () => {
  const running = entries.filter(([, { hasInstallScript }]) => hasInstallScript)
  expect(running.filter(([, { dev }]) => !dev).map(([path]) => path)).toEqual([])
  // Else the mark is no longer called so.
  expect(running.length).toBeGreaterThan(0)
})
