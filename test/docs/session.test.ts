// Takes long: it follows the pages from their first line to their last.
/** The pages in the hands of a newcomer: a fresh clone, two terminals, and every command in its order. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { freePorts } from '../container/ports.ts'
import { FreshClone, userEnvironment } from '../support/clone.ts'
import { inPath } from '../support/installation.ts'
import { ownLoad } from '../support/own-load.ts'
import { lastingPart, repetitions } from './tour.ts'

const [, quickStart = ''] = /^## Quick start\n([\s\S]*?)^## /m.exec(readFileSync('README.md', 'utf8')) ?? []
const pages = { 'the quick start': quickStart, 'the tour': readFileSync('docs/tour.md', 'utf8') }
const canRun = inPath('script') !== undefined && spawnSync('curl', ['--version']).status === 0
const startTimeout = { timeout: 60_000, interval: 100 }

interface Block {
  /** The first terminal has the gateway, the second the commands whose output the page shows. */
  readonly terminal: 1 | 2
  readonly typed: string
  readonly shown: string
}

function blocksOf(text: string): readonly Block[] {
  const blocks = [...text.matchAll(/^```(\S+)( tour=\w+)?\n([\s\S]*?)^```$/gm)]
  return blocks.flatMap(([, language, tour, typed = ''], at) => {
    const [, next, , shown = ''] = blocks[at + 1] ?? []
    return language === 'sh' ? [{ terminal: tour ? 2 : 1, typed, shown: next === 'text' ? shown : '' } as const] : []
  })
}

/** A real terminal, with a shell in which somebody types. */
class GatewayTerminal implements AsyncDisposable {
  shown = ''
  private readonly child
  private readonly ended: Promise<unknown>

  constructor(cwd: string) {
    const shell = 'exec bash --noprofile --norc -i'
    const env = { ...userEnvironment, TERM: 'dumb', NODE_OPTIONS: ownLoad }
    this.child = spawn('script', ['--quiet', '--command', shell, '/dev/null'], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
    this.ended = once(this.child, 'close')
    this.child.stdout.on('data', (chunk) => {
      this.shown += chunk
    })
  }

  private get startCount(): number {
    return [...this.shown.matchAll(/^swapgate \S+: gateway http:/gm)].length
  }

  /** Until the gateway that it starts has printed its addresses. */
  async start(typed: string): Promise<void> {
    const before = this.startCount
    this.child.stdin.write(typed)
    await vi.waitFor(() => expect(this.startCount, this.shown).toBe(before + 1), startTimeout)
  }

  interrupt(): void {
    this.child.stdin.write('\u0003')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.interrupt()
    this.child.stdin.write('exit\n')
    await this.ended
  }
}

const mark = '-- the next step --'

/** A shell that keeps its variables and functions from one step to the next. */
class CommandTerminal implements Disposable {
  private readonly child
  private out = ''

  constructor(cwd: string) {
    this.child = spawn('bash', ['--noprofile', '--norc'], { cwd, env: userEnvironment, stdio: ['pipe', 'pipe', 'inherit'] })
    this.child.stdout.on('data', (chunk) => {
      this.out += chunk
    })
  }

  /** What it printed. */
  async run(typed: string): Promise<string> {
    this.out = ''
    this.child.stdin.write(`{\n${typed}} < /dev/null\nprintf '\\n%s\\n' '${mark}'\n`)
    const end = `\n${mark}\n`
    await vi.waitFor(() => expect(this.out).toContain(end), startTimeout)
    return this.out.slice(0, -end.length).replaceAll('\r', '')
  }

  [Symbol.dispose](): void {
    this.child.kill()
  }
}

it.runIf(canRun).each(Object.entries(pages))(
  '%s is one session in a fresh clone, on free ports, with the packages of this checkout in place of npm ci',
  async (_, page) => {
    using clone = new FreshClone()
    const ports = await freePorts()
    for (const file of globSync(['config/gateway.yaml', 'examples/**/*.ts', 'clients/**/*.ts'], { cwd: clone.folder })) {
      const path = join(clone.folder, file)
      writeFileSync(path, ports.move(readFileSync(path, 'utf8')))
    }
    const blocks = blocksOf(page)
    expect(blocks[0]).toMatchObject({ terminal: 1, typed: 'npm ci && npm start\n' })
    expect(blocks.length).toBeGreaterThan(3)
    await using gateway = new GatewayTerminal(clone.folder)
    using commands = new CommandTerminal(clone.folder)
    const printed: string[] = []
    for (const { terminal, typed } of blocks) {
      if (terminal === 2) {
        printed.push(await commands.run(ports.move(typed)))
        continue
      }
      if (printed.length > 0) gateway.interrupt()
      await gateway.start(ports.move(typed).replace('npm ci && ', ''))
    }
    const shown = blocks.flatMap((block) => (block.terminal === 2 ? [block.shown] : []))
    expect(printed.map(lastingPart)).toEqual(shown.map((text) => lastingPart(ports.move(text))))
    expect(repetitions(printed)).toEqual(repetitions(shown))
    expect(gateway.shown).not.toMatch(/^\S+ (?:error|fatal) /m)
  },
  180_000,
)
