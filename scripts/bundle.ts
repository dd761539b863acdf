/**
 * The production packages go into what `npm pack` makes, as they are locked and tested: npm would choose versions of its own for whoever
 * installs it, and applies `overrides` in a clone only. `npm pack` calls this before, with `add`, and after it, with `remove`: with
 * `bundleDependencies` in the manifest of a clone, `npm ci` of npm 11 does not end.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

interface Manifest {
  readonly devDependencies: object
  readonly overrides: object
}

interface LockedPackage {
  readonly version: string
  readonly dev?: boolean
  /** Of a package with a program for one kind of machine: Node. */
  readonly cpu?: readonly string[]
  readonly hasInstallScript?: boolean
}

const manifestFile = 'package.json'
/** For `swapgate_build_info`. */
const commitFile = 'commit'
const keptFile = 'node_modules/.cache/swapgate/package.json'

/** The locked packages that run in production, by their folders. Node itself, which is optional, is not bundled: npm takes the one of the machine. */
export function bundledPackages(): ReadonlyMap<string, LockedPackage> {
  const { packages } = read('package-lock.json') as { packages: Readonly<Record<string, LockedPackage>> }
  return new Map(Object.entries(packages).filter(([folder, { dev, cpu }]) => folder !== '' && !dev && !cpu))
}

/** Throws if a package of this clone is not the locked one. */
function add(): void {
  if (existsSync(keptFile) && 'bundleDependencies' in read(manifestFile)) remove() // after an `npm pack` that failed
  for (const [folder, { version, hasInstallScript }] of bundledPackages()) {
    const file = `${folder}/package.json`
    const installed = existsSync(file) ? (read(file) as { readonly version: string }) : undefined
    if (installed?.version !== version) throw new Error(`${folder} is ${installed?.version}, locked is ${version}: run npm ci`)
    if (hasInstallScript) throw new Error(`${folder} would run a script when the archive is installed`)
  }
  const { devDependencies: _, overrides: own, ...manifest } = read(manifestFile) as Manifest
  // Tools that read the archive as a project need them.
  const overrides = Object.fromEntries(
    Object.keys(own).flatMap((name) => {
      const bundled = bundledPackages().get(`node_modules/${name}`)
      return bundled ? [[name, bundled.version]] : []
    }),
  )
  mkdirSync(dirname(keptFile), { recursive: true })
  writeFileSync(commitFile, execFileSync('git', ['rev-parse', 'HEAD']))
  copyFileSync(manifestFile, keptFile)
  write(manifestFile, { ...manifest, overrides, bundleDependencies: true })
}

function remove(): void {
  rmSync(commitFile, { force: true })
  renameSync(keptFile, manifestFile)
}

function read(file: string): object {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function write(file: string, content: object): void {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
}

if (import.meta.main) (process.argv[2] === 'add' ? add : remove)()
