// Takes long: a package is made and installed.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { billOfMaterials } from '../../scripts/bill-of-materials.ts'
import { bundledPackages } from '../../scripts/bundle.ts'
import type { Ports } from '../container/ports.ts'
import { olderNode } from '../support/older-node.ts'
import { hasTerminal } from '../support/terminal-gateway.ts'
import { diskBytesOf } from './disk-bytes.ts'
import { InstalledPackage } from './installed-package.ts'

let installed: InstalledPackage
let ports: Ports
beforeAll(async () => {
  installed = new InstalledPackage()
  ports = await installed.movePorts()
}, 180_000)
afterAll(() => installed?.[Symbol.dispose]())

/** The packages of the lock file that npm wrote there. */
function lockedHere() {
  const { packages } = JSON.parse(readFileSync(join(installed.folder, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { hasInstallScript?: boolean }>>
  }
  return Object.entries(packages)
}

it('holds what runs, its declarations, the default configuration and the documents; no sources and no tests', () => {
  const { files } = installed
  const wanted = [
    'dist/index.js',
    'dist/index.d.ts',
    'dist/cli/command.js',
    'config/gateway.yaml',
    'config/gateway.schema.json',
    'config/assets.yaml',
    'README.md',
  ]
  expect([...wanted, 'LICENSE', 'CHANGELOG.md', 'docs/configuration.md'].filter((file) => !files.includes(file))).toEqual([])
  expect(files.filter((file) => /(?<!\.d)\.ts$|\.test\.|fixture|^(?:test|bench|scripts|deploy)\//.test(file))).toEqual([])
  const bare = files.filter((file) => file.endsWith('.d.ts') && !files.includes(file.replace(/\.d\.ts$/, '.js')))
  expect(bare).toEqual([])
})

it('installs the packages that are locked and tested, and no other', () => {
  const read = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  const own = join(installed.folder, 'node_modules/swapgate')
  for (const [folder, { version }] of bundledPackages())
    expect([folder, read(join(own, folder)).version]).toEqual([folder, version])
  const beside = readdirSync(join(installed.folder, 'node_modules')).filter((name) => !name.startsWith('.'))
  expect(beside.filter((name) => !Object.hasOwn(manifest.optionalDependencies, name))).toEqual(['swapgate'])
  expect(lockedHere().filter(([folder]) => folder.startsWith('node_modules/swapgate/')).length).toBe(bundledPackages().size)
})

it('runs no script of a package when it is installed', () => {
  expect(lockedHere().filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([])
})

it('leaves the manifest of the clone as it was', () => {
  expect(JSON.parse(readFileSync('package.json', 'utf8'))).toEqual(manifest)
  expect(manifest).not.toHaveProperty('bundleDependencies')
})

it('the bill of materials names all that is in it, by version', () => {
  const { components } = JSON.parse(billOfMaterials(installed.archive)) as { components: readonly { purl: string }[] }
  const named = new Set(components.map(({ purl }) => decodeURIComponent(purl)))
  const inside = [...bundledPackages()].map(
    ([folder, { version }]) => `pkg:npm/${folder.replace(/^.*node_modules\//, '')}@${version}`,
  )
  expect(inside.filter((purl) => !named.has(purl))).toEqual([])
})

it('brings under 150 MB beside Node', () => {
  const node = new Set(['node', ...Object.keys(manifest.optionalDependencies)])
  expect(diskBytesOf(join(installed.folder, 'node_modules'), (name) => node.has(name)) / 2 ** 20).toBeLessThan(150)
})

it('npm exec starts it in an empty folder, with the configuration that comes along', { timeout: 120_000 }, async () => {
  await using swapgate = installed.shell('exec npm exec --no -- swapgate start')
  await expect.poll(() => swapgate.output, { timeout: 60_000 }).toContain('keys are public')
  expect(swapgate.output).toContain(`swapgate ${manifest.version}: gateway http://127.0.0.1:${ports.gateway}`)
  expect(swapgate.output).toContain('warning: there is no config/gateway.yaml here')
  expect(swapgate.output).toContain("The operator's page is off: admin.tokens is empty.")
  expect((await fetch(`http://127.0.0.1:${ports.admin}/livez`)).status).toBe(200)
  const quote = async () => {
    const response = await fetch(`http://127.0.0.1:${ports.gateway}/b/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount=0.10`)
    return [response.status, await response.text()]
  }
  // A machine that does other things beside may be overloaded at first.
  await expect.poll(quote).toEqual([200, expect.stringContaining('"fromAmount":0.10')])
  await swapgate.interrupt()
  expect(swapgate.output).not.toContain('swapgate: ')
  await expect(fetch(`http://127.0.0.1:${ports.admin}/livez`)).rejects.toThrow('fetch failed')
  expect(existsSync(join(installed.folder, 'data/swapgate.db'))).toBe(true)
})

it.runIf(hasTerminal)('at a terminal it ends with the URL of the page, with a token', { timeout: 120_000 }, async () => {
  const swapgate = installed.shell(`exec script -qec 'exec npm exec --no -- swapgate start' /dev/null`)
  onTestFinished(() => swapgate.typeInterrupt())
  const printed = new RegExp(`(http://127\\.0\\.0\\.1:${ports.admin}/)#token=(\\S+)\\s+$`)
  await expect.poll(() => swapgate.output, { timeout: 60_000 }).toMatch(printed)
  const [, url = '', token = ''] = printed.exec(swapgate.output) ?? []
  const page = await fetch(url)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>swapgate: operator</title>')])
  const whose = await fetch(`${url}api/token`, { headers: { authorization: `Bearer ${token}` } })
  expect(await whose.json()).toEqual({ name: 'start', roles: ['read', 'operate', 'money'], mayKeep: false })
})

it('starts from a few files', { timeout: 120_000 }, async () => {
  installed.write(
    'count.mjs',
    `import { registerHooks } from 'node:module'
let files = 0
registerHooks({ load: (url, context, next) => (url.startsWith('file:') && files++, next(url, context)) })
process.on('exit', () => console.log('read ' + files + ' files'))`,
  )
  const program = 'node_modules/swapgate/src/cli/swapgate.js'
  await using swapgate = installed.shell(`exec node_modules/.bin/node --import ./count.mjs ${program} start`)
  await expect.poll(() => swapgate.output, { timeout: 60_000 }).toContain('keys are public')
  await swapgate.interrupt()
  expect(Number(/read (\d+) files/.exec(swapgate.output)?.[1])).toBeLessThan(100)
})

it('starts and stops in another program, and its types fit', { timeout: 120_000 }, () => {
  const program = `import { type Config, ConfigError, loadConfig, type Running, start } from 'swapgate'
const config: Config = loadConfig('node_modules/swapgate/config/gateway.yaml')
const running: Running = await start(config)
console.log(running.urls.get('form A'))
await running.stop()
try { loadConfig('nowhere.yaml') } catch (reason) { if (reason instanceof ConfigError) console.log(reason.faults.length) }
`
  installed.write('program.mts', program)
  installed.write('wrong.mts', `${program}start('gateway.yaml')\n`)
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext', '--types', 'node']
  const types = ['--typeRoots', join(process.cwd(), 'node_modules/@types')]
  const { stdout } = installed.fail(join(process.cwd(), 'node_modules/.bin/tsc'), ...options, ...types, 'program.mts', 'wrong.mts')
  expect(stdout.match(/^\S+: error TS\d+/gm)).toEqual([expect.stringMatching(/^wrong\.mts\(7,7\): error TS2345/)])
  expect(installed.run(join(installed.folder, 'node_modules/.bin/node'), 'program.mts')).toBe(
    `http://127.0.0.1:${ports.gateway}/a\n1\n`,
  )
})

it('exports what its entry does, to import and to require', () => {
  const names = (how: string) => `console.log(Object.keys(${how}).toSorted().join())`
  const run = (program: string): string => installed.run(join(installed.folder, 'node_modules/.bin/node'), '--eval', program)
  const exported = run(names(`require('./node_modules/swapgate/dist/index.js')`))
  expect(exported).toContain('createSwapgate')
  expect(run(names(`await import('swapgate')`))).toBe(exported)
  expect(run(names(`require('swapgate')`))).toBe(exported)
})

it.runIf(olderNode)('an older Node that imports it gets an error with the version that is needed, in one line', () => {
  installed.write('older.mjs', `import('swapgate').catch(({ message }) => console.log(message))`)
  const [first, ...rest] = installed.run(String(olderNode), 'older.mjs').split('\n')
  expect(first).toMatch(/^swapgate needs Node 26 and this is \d+\.\d+\.\d+: install Node 26$/)
  expect(rest).toEqual([''])
})

it.each(['express', 'node-http'])('the example of an embedded gateway with %s runs', { timeout: 120_000 }, async (name) => {
  installed.link('express') // the application's own
  installed.write(`${name}.mts`, readFileSync(`examples/embedded/${name}.ts`, 'utf8'))
  const program = `PORT=0 SWAPGATE_CONFIG=node_modules/swapgate/config/gateway.yaml exec node_modules/.bin/node ${name}.mts`
  await using shell = installed.shell(program)
  await expect.poll(() => shell.output, { timeout: 60_000 }).toContain('"port":')
  const port = /"port":(\d+)/.exec(shell.output)?.[1]
  const mount = name === 'express' ? '/swap' : ''
  expect((await fetch(`http://127.0.0.1:${port}${mount}/a/api/v2/nowhere`)).status).toBe(404)
})
