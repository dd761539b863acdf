/** How many bytes of the disk packages need. */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

type Names = Readonly<Record<string, string>>

interface LockedPackage {
  readonly dependencies?: Names
  readonly optionalDependencies?: Names
  readonly peerDependencies?: Names
}

const locked = (JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Readonly<Record<string, LockedPackage>> })
  .packages

/** Bytes that a file or a folder needs on the disk, without the folders below it that are left out by name. */
export function diskBytesOf(path: string, leftOut: (name: string) => boolean = () => false): number {
  const { blocks } = lstatSync(path)
  const own = blocks * 512
  if (!lstatSync(path).isDirectory()) return own
  const names = readdirSync(path).filter((name) => !leftOut(name))
  return names.reduce((sum, name) => sum + diskBytesOf(join(path, name), leftOut), own)
}

/** The packages that `name` brings, itself included: paths below this clone that are installed on this machine. */
export function packagesOf(...names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const add = (path: string | undefined): void => {
    if (path === undefined || found.has(path)) return
    found.add(path)
    const { dependencies, optionalDependencies, peerDependencies } = locked[path] as LockedPackage
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) add(pathOf(needed, path))
  }
  for (const name of names) add(pathOf(name, ''))
  return found
}

/** Where Node finds a package from another, if it is installed. */
function pathOf(name: string, from: string): string | undefined {
  const path = join(from, 'node_modules', name)
  if (path in locked && existsSync(path)) return path
  return from === '' ? undefined : pathOf(name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))))
}
