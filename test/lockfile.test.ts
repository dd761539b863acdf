import { expect, it } from 'vitest'
import lockfile from '../package-lock.json' with { type: 'json' }

interface Entry {
  readonly resolved?: string
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const entries = Object.entries(lockfile.packages as Readonly<Record<string, Entry>>)
const locked = new Set(entries.map(([path]) => path))

/** A package is looked for in each folder on the way up. */
function isLocked(dependent: string, name: string): boolean {
  const parts = dependent === '' ? [] : dependent.split('/node_modules/')
  return [...parts, ''].some((_, up) => {
    const folder = parts.slice(0, parts.length - up).join('/node_modules/')
    return locked.has(folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`)
  })
}

it('holds the packages of every platform, so that npm ci installs on each', () => {
  const missing = entries.flatMap(([dependent, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !isLocked(dependent, name))
      .map((name) => `${dependent} needs ${name}`),
  )
  expect(entries.length).toBeGreaterThan(100)
  expect(missing).toEqual([])
})

it('names no registry', () => {
  expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
})

it('S15: brings no package into production that runs a script when it is installed', () => {
  const running = entries.filter(([, { hasInstallScript }]) => hasInstallScript)
  expect(running.filter(([, { dev }]) => !dev).map(([path]) => path)).toEqual([])
  // Else the mark is no longer called so.
  expect(running.length).toBeGreaterThan(0)
})
