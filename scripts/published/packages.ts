/** The packages with published lists, in `tools/published`: without what they depend on, and without their scripts. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../tools/published/', import.meta.url))

interface Package {
  readonly name: string
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
}

/** Installs the pinned versions, if they are not there. Returns the folder of the packages. */
export function installLists(): string {
  const packages = join(folder, 'node_modules')
  const isInstalled = ([name, version]: readonly [string, string]): boolean => {
    const file = join(packages, name, 'package.json')
    return existsSync(file) && readPackage(file).version === version
  }
  if (!Object.entries(readPackage(join(folder, 'package.json')).dependencies).every(isInstalled)) {
    execFileSync('npm', ['ci', '--ignore-scripts', '--silent', '--no-update-notifier'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
  return packages
}

/**
 * Pins the newest versions in a lock file without what they depend on, which `npm ci` accepts. `npm install NAME@VERSION` would add that:
 * more than 900 packages, one of which no registry has.
 */
export function pinNewest(): void {
  const own = readPackage(join(folder, 'package.json'))
  const newest = Object.keys(own.dependencies).map((name) => ({ name, ...view(name) }))
  const dependencies = Object.fromEntries(newest.map(({ name, version }) => [name, version]))
  const { name, version } = own
  const packages = Object.fromEntries(newest.map(({ name, ...locked }) => [`node_modules/${name}`, locked]))
  const lock = { name, version, lockfileVersion: 3, requires: true, packages: { '': { name, version, dependencies }, ...packages } }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...own, dependencies }, null, 2)}\n`)
  writeFileSync(join(folder, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`)
}

function view(name: string): { readonly version: string; readonly integrity: string } {
  const text = execFileSync('npm', ['view', name, 'version', 'dist.integrity', '--json'], { cwd: folder, encoding: 'utf8' })
  const { version, 'dist.integrity': integrity } = JSON.parse(text) as { version: string; 'dist.integrity': string }
  return { version, integrity }
}

function readPackage(file: string): Package {
  return JSON.parse(readFileSync(file, 'utf8')) as Package
}
