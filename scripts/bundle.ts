/**
 * The production packages go into what `npm pack` makes, as they are locked and tested: npm would choose versions of its own for whoever
 * installs it. `npm pack` calls this before, with `add`, and after it, with `remove`: with `bundleDependencies` in the manifest of a
 * clone, `npm ci` of npm 11 does not end.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

interface Manifest {
  readonly version: string
  readonly scripts?: Readonly<Record<string, string>>
}

interface LockedPackage {
  readonly version: string
  readonly dev?: boolean
  /** Of a package with a program for one kind of machine: Node. */
  readonly cpu?: readonly string[]
  readonly hasInstallScript?: boolean
}

const manifestFile = 'package.json'
const keptFile = 'node_modules/.cache/swapgate/package.json'

/** The locked packages that run in production, by their folders. Node itself, which is optional, is not bundled: npm takes the one of the machine. */
export function bundledPackages(): ReadonlyMap<string, LockedPackage> {
  const { packages } = read('package-lock.json') as { packages: Readonly<Record<string, LockedPackage>> }
  return new Map(Object.entries(packages).filter(([folder, { dev, cpu }]) => folder !== '' && !dev && !cpu))
}

/** Throws if a package of this clone is not the locked one. */
function add(): void {
  if (existsSync(keptFile)) remove() // after an `npm pack` that failed
  for (const [folder, { version, hasInstallScript }] of bundledPackages()) {
    const file = `${folder}/package.json`
    const installed = existsSync(file) ? (read(file) as Manifest) : undefined
    if (installed?.version !== version) throw new Error(`${folder} is ${installed?.version}, locked is ${version}: run npm ci`)
    if (hasInstallScript) writeWithoutInstallScripts(file, installed)
  }
  const { devDependencies: _, overrides: __, ...manifest } = read(manifestFile) as Readonly<Record<string, unknown>>
  mkdirSync(dirname(keptFile), { recursive: true })
  copyFileSync(manifestFile, keptFile)
  write(manifestFile, { ...manifest, bundleDependencies: true })
}

function remove(): void {
  renameSync(keptFile, manifestFile)
}

/** npm runs those of bundled packages too. That of protobufjs, the only one, warns of dependents from before its version 6. */
function writeWithoutInstallScripts(file: string, { scripts, ...manifest }: Manifest): void {
  const { preinstall: _, install: __, postinstall: ___, ...others } = { ...scripts }
  rmSync(file) // another clone may share the file by a hard link
  write(file, { ...manifest, scripts: others })
}

function read(file: string): object {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function write(file: string, content: object): void {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
}

if (import.meta.main) (process.argv[2] === 'add' ? add : remove)()
