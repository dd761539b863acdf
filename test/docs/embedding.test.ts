// Takes long: it makes a clone and starts programs in it.
/** The programs of `docs/embedding.md` run in a fresh clone, and the commands of the page print what it shows. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePorts, type Ports } from '../container/ports.ts'
import { FreshClone, userEnvironment } from '../support/clone.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { freePort } from '../support/free-port.ts'
import { lastingPart, type Step, take, toursOf } from './tour.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0
const page = readFileSync('docs/embedding.md', 'utf8')
const programs = new Map(
  [...page.matchAll(/^```ts program=(\w+)\n([\s\S]*?)^```$/gm)].map(([, name = '', text = '']) => [name, text]),
)
const tours = toursOf(page)

let clone: FreshClone
let ports: Ports
let port: number
const move = (text: string): string => ports.move(text).replaceAll('3000', String(port))
beforeAll(async () => {
  clone = new FreshClone()
  ports = await freePorts()
  port = await freePort(32_000, 700)
  const configuration = join(clone.folder, 'config/gateway.yaml')
  writeFileSync(configuration, move(readFileSync(configuration, 'utf8')))
})
afterAll(() => clone?.[Symbol.dispose]())

/** A program that listens, until the test ends. */
class Program implements AsyncDisposable {
  err = ''
  private readonly child: ChildProcess
  private readonly ended: Promise<unknown>

  constructor(command: string, args: readonly string[]) {
    const env = { ...userEnvironment, PORT: String(port), ALPHA_URL: `http://127.0.0.1:${ports.sandbox}/a/api/v2` }
    this.child = spawn(command, args, { cwd: clone.folder, env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
    this.ended = once(this.child, 'close')
    this.child.stderr?.on('data', (chunk) => {
      this.err += chunk
    })
  }

  async listening(): Promise<void> {
    const isThere = async (): Promise<unknown> => {
      if (this.child.exitCode !== null) throw new Error(`it ended: ${this.err}`)
      return fetch(`http://127.0.0.1:${port}`)
    }
    await vi.waitFor(isThere, eventTimeoutMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.pid !== undefined) process.kill(-this.child.pid, 'SIGKILL')
    await this.ended
  }
}

async function showsWhatComesBack(name: string): Promise<void> {
  const steps = tours.get(name) as readonly Step[]
  const printed = await take(steps, move, {})
  expect(printed.map(lastingPart)).toEqual(steps.map(({ shown }) => lastingPart(shown)))
}

it('the first program is that of the example', () => {
  const example = readFileSync('examples/embedded/express.ts', 'utf8')
  expect(programs.get('express')).toBe(example.slice(example.indexOf('import')))
  expect([...programs.keys()]).toEqual([...tours.keys()])
})

describe.runIf(hasCurl)('in a clone, with the packages of this checkout', () => {
  it('npm run example:express is one command, and the page shows what it does', async () => {
    await using program = new Program('npm', ['run', 'example:express'])
    await program.listening()
    await showsWhatComesBack('express')
  })

  it('npm run example:node-http is one command', async () => {
    await using program = new Program('npm', ['run', 'example:node-http'])
    await program.listening()
    const rate = await fetch(`http://127.0.0.1:${port}/b/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount=0.10`)
    expect([rate.status, await rate.text()]).toEqual([200, expect.stringContaining('"fromAmount":0.10')])
  })

  it.each([...programs.keys()].slice(1))('the program %s does what the page shows', async (name) => {
    writeFileSync(join(clone.folder, `${name}.ts`), move(programs.get(name) ?? ''))
    await using program = new Program(process.execPath, ['--import', './examples/embedded/sandbox.ts', `${name}.ts`])
    await program.listening()
    await showsWhatComesBack(name)
    if (name !== 'parser') return
    const causeIn = (log: string): string | undefined => /"gateway_internal".*"message":"([^"]*)"/.exec(log)?.[1]
    expect(page).toContain(await vi.waitFor(() => causeIn(program.err) ?? expect.fail(program.err), eventTimeoutMs))
  })
})
