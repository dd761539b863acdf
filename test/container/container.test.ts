// Takes long: many starts.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { parseDockerfile } from '../../scripts/container/dockerfile.ts'
import { buildImage, type Image } from '../../scripts/container.ts'
import { diskBytesOf } from '../package/disk-bytes.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { memoryDirectory } from '../support/memory-directory.ts'
import { ownLoad } from '../support/own-load.ts'
import { freePorts, type Ports } from './ports.ts'

const isRoot = process.getuid?.() === 0
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>
}

describe('the container', () => {
  let folder: string
  let image: Image
  let ports: Ports
  let child: ChildProcess
  let how: { readonly cwd: string; readonly env: Record<string, string>; readonly uid?: number; readonly gid?: number }

  /** As an orchestrator runs it, but for the ports. */
  beforeAll(async () => {
    folder = mkdtempSync(join(memoryDirectory(), 'swapgate-container-'))
    image = buildImage(process.cwd(), folder)
    ports = await freePorts()
    const config = readFileSync(join(image.directory, 'config/gateway.yaml'), 'utf8')
    writeFileSync(join(image.directory, 'config/moved.yaml'), ports.move(config))
    const env = { ...image.environment, SWAPGATE_CONFIG: 'config/moved.yaml', NODE_OPTIONS: ownLoad }
    how = { cwd: image.directory, env, ...(isRoot && image.stage.user) }
    const [program = '', ...args] = image.stage.command
    child = spawn(program, args, { ...how, stdio: ['ignore', 'ignore', 'inherit'] })
  }, 60_000)

  afterAll(() => {
    child?.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })

  function health(): number | null {
    const [program = '', ...args] = image.stage.healthcheck.map(ports.move)
    return spawnSync(program, args, how).status
  }

  it('is healthy within seconds, by its own check', async () => {
    const latest = performance.now() + 10_000
    while (health() !== 0 && performance.now() < latest) await wait(100)
    expect(health()).toBe(0)
  })

  it.each(['a', 'b'])('responds in form %s on the published port', async (form) => {
    expect(image.stage.ports).toEqual([8080, 9090])
    const address = `http://127.0.0.1:${ports.gateway}/${form}/api/v2`
    const response = await fetch(`${address}/rate?coinFrom=BTC&coinTo=ETH&amount=0.1`)
    expect([response.status, response.headers.get('x-swap-form')]).toEqual([200, form.toUpperCase()])
  })

  it('runs as a user other than root that owns only the data', () => {
    const { user, volumes } = image.stage
    expect(user?.uid).toBeGreaterThan(0)
    expect(volumes).toEqual(['/app/data'])
    const uid = isRoot ? user?.uid : process.getuid?.()
    expect(statSync(join(image.root, 'app/data/sandbox.db')).uid).toBe(uid)
    if (!isRoot) return
    const foreign = globSync('**', { cwd: image.directory }).filter((path) => statSync(join(image.directory, path)).uid !== 0)
    expect(foreign.filter((path) => !/^data(?:\/|$)/.test(path))).toEqual([])
  })

  it('holds what runs, and neither tests nor tools', () => {
    const has = (name: string): boolean => existsSync(join(image.directory, 'node_modules', name))
    expect(Object.keys(manifest.dependencies).filter((name) => !has(name))).toEqual([])
    // What a library that runs needs too is no tool, whatever else it is used for.
    const development = Object.keys(manifest.devDependencies).filter((name) => packages[`node_modules/${name}`]?.dev)
    const tools = [...development, ...Object.keys(manifest.optionalDependencies)]
    expect(development.length).toBeGreaterThan(10)
    expect(tools.filter(has)).toEqual([])
    expect(globSync('src/**/{*.test,fixture}.ts', { cwd: image.directory })).toEqual([])
    expect(globSync('*', { cwd: image.directory }).sort()).toEqual([
      'LICENSE',
      'commit',
      'config',
      'data',
      'node_modules',
      'package.json',
      'src',
    ])
  })

  it('holds under 150 MB beside Node', () => {
    expect(diskBytesOf(image.directory) / 2 ** 20).toBeLessThan(150)
  })

  it.runIf(isRoot)('runs as any user of group 0, who may write the data and nothing else', async () => {
    const config = 'config/any.yaml'
    const moved = readFileSync(join(image.directory, 'config/moved.yaml'), 'utf8').replaceAll(/port: \d+/g, 'port: 0')
    // The files of the first user are its own.
    writeFileSync(join(image.directory, config), moved.replace('sandbox:\n', 'sandbox:\n  data: data/any-sandbox.db\n'))
    const [program = '', ...args] = image.stage.command
    const any = { ...how, uid: 1_000_730_000, gid: 0 }
    const other = spawn(program, args, {
      ...any,
      env: { ...how.env, SWAPGATE_CONFIG: config, LEDGER_URL: 'sqlite:data/any.db' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(other, 'exit')
    let printed = ''
    for (const stream of [other.stdout, other.stderr]) stream.on('data', (chunk) => (printed += chunk))
    try {
      await vi.waitFor(() => expect(printed).toMatch(/gateway http/), { timeout: eventTimeoutMs })
      const mayWrite = (path: string) =>
        spawnSync(join(image.root, 'usr/local/bin/node'), ['--eval', `fs.accessSync(${JSON.stringify(path)}, 2)`], any).status === 0
      expect(['data', 'config', 'src', '.'].map(mayWrite)).toEqual([true, false, false, false])
    } finally {
      other.kill('SIGTERM')
      await ended
    }
  })

  it('ends with 0 after SIGTERM, and is then not healthy', async () => {
    child.kill('SIGTERM')
    const [exitCode] = await once(child, 'exit')
    expect(exitCode).toBe(0)
    expect(health()).toBe(1)
  })
})

it('the image that it is built on may be pinned by a digest', () => {
  const digest = 'a'.repeat(64)
  const dockerfile = readFileSync('Dockerfile', 'utf8')
  const imagesOf = (given?: Readonly<Record<string, string>>) =>
    new Set(parseDockerfile(dockerfile, given).map(({ image }) => image))
  const [plain = ''] = imagesOf()
  expect(imagesOf()).toEqual(new Set([`node:${process.versions.node.split('.')[0]}-slim`]))
  expect(imagesOf({ NODE_IMAGE: `${plain}@sha256:${digest}` })).toEqual(new Set([`${plain}@sha256:${digest}`]))
})

describe('a Dockerfile that is not understood is an error', () => {
  it.each([
    'ADD archive.tar.gz ./',
    'COPY --chmod=755 src ./src',
    'COPY ../secret ./',
    'RUN rm -rf /var/lib',
    'USER node',
    'CMD node src/cli/swapgate.js start',
    'ENV NAME a value',
  ])('%s', (line) => {
    expect(() => parseDockerfile(`FROM node:26-slim\n${line}`)).toThrow('not known here')
    expect(() => parseDockerfile(line)).toThrow('not known here')
  })
})
