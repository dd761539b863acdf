/** What the log looks like where it is read: in a terminal, and in anything else. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Provider, startProvider } from '../checker/provider.ts'
import { ConfigDirectory, Swapgate } from '../process/swapgate.ts'
import { bundledProgram } from '../support/bundle.ts'
import { sendRequest } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { inPath } from '../support/installation.ts'
import { recordOutput } from '../support/leak-check.ts'

let directory: ConfigDirectory
let provider: Provider
beforeEach(async () => {
  directory = new ConfigDirectory()
  provider = await startProvider({ form: 'A', name: 'alpha', keys: ['known-key'], journal: `${directory.path}/journal` })
})
afterEach(async () => {
  await provider[Symbol.asyncDispose]()
  directory[Symbol.dispose]()
})

const configuration = (log: string, workers: number): string =>
  directory.write(`server: { port: 0, shutdownDelay: 0, workers: ${workers} }
admin: { port: 0 }
log: ${log}
providers: { alpha: { form: A, url: "${provider.url}" } }
routing: { providers: [alpha] }
`)

/** A success, a mistake, and a provider that is not there; then Ctrl+C. */
async function useIt(gateway: string): Promise<void> {
  await sendRequest(gateway, { path: '/a/api/v2/currencies', headers: { 'x-request-id': 'first' } })
  await sendRequest(gateway, { path: '/a/nowhere', headers: { 'x-request-id': 'second' } })
  await provider[Symbol.asyncDispose]()
  await sendRequest(gateway, { path: '/a/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount=1', headers: { 'x-request-id': 'third' } })
}

/** All that a terminal shows of the gateway: `script` gives it one, and types Ctrl+C. */
async function shownInTerminal(log: string, env: Readonly<Record<string, string>> = {}, workers = 1): Promise<string> {
  const command = `exec '${process.execPath}' '${bundledProgram()}' start --config '${configuration(log, workers)}'`
  const terminal = spawn('script', ['--quiet', '--command', command, '/dev/null'], {
    cwd: directory.path,
    // Nothing of the environment of the tests: NO_COLOR, FORCE_COLOR and CI all decide on colours.
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  terminal.stdout.on('data', (chunk) => {
    shown += chunk
    recordOutput('log', chunk)
  })
  const ended = once(terminal, 'close')
  try {
    const gateway = await vi.waitFor(() => /gateway (http:\S+?),/.exec(shown)?.[1] ?? expect.fail(shown), eventTimeoutMs)
    await useIt(gateway)
    await vi.waitFor(() => expect(shown).toMatch(/third.*\r\n/), eventTimeoutMs)
  } finally {
    terminal.stdin.write('\u0003')
    await ended
  }
  return shown.replaceAll('\r', '')
}

async function writtenToPipe(log: string): Promise<string> {
  await using swapgate = new Swapgate(['start', '--config', configuration(log, 1)])
  await useIt((await swapgate.urls()).get('gateway') as string)
  swapgate.child.kill('SIGTERM')
  return (await swapgate.ended).err
}

const colour = '\u001b['
const textOf = (output: string): readonly string[] =>
  stripVTControlCharacters(output)
    .split('\n')
    .filter((line) => /^\d\d:/.test(line))
const jsonOf = (output: string): readonly object[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as object)

const lines = [
  expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3} GET {3}\/a\/api\/v2\/currencies 200 \d+\.\d ms alpha first$/),
  expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3} GET {3}\(unknown path\) 404 \d+\.\d ms - second path$/),
  expect.stringMatching(
    /^\d\d:\d\d:\d\d\.\d{3} GET {3}\/a\/api\/v2\/rate 502 \d+\.\d ms alpha third provider_unreachable \S.* ECONNREFUSED: connect/,
  ),
]
const records = [
  { request_id: 'first', route: '/a/api/v2/currencies', status: 200, provider: 'alpha' },
  { request_id: 'second', route: '', status: 404 },
  { request_id: 'third', route: '/a/api/v2/rate', status: 502, error: { code: 'ECONNREFUSED' } },
]

describe.runIf(inPath('script'))('in a terminal', () => {
  it('a request is one readable line', async () => {
    const shown = await shownInTerminal('{}')
    expect(textOf(shown)).toEqual(lines)
    expect(shown).toContain(colour)
    expect(shown).not.toContain('{"')
  })

  it('a request to one of several workers is one too', async () => {
    expect(textOf(await shownInTerminal('{}', {}, 2))).toEqual(lines)
  })

  it.each([
    ['NO_COLOR', { NO_COLOR: '1' }],
    ['NO_COLOR, whatever FORCE_COLOR says', { NO_COLOR: '1', FORCE_COLOR: '1' }],
    ['a terminal that has none', { TERM: 'dumb' }],
  ])('there is no colour with %s', async (_, env) => {
    const shown = await shownInTerminal('{}', env)
    expect(textOf(shown)).toEqual(lines)
    expect(shown).not.toContain(colour)
  })

  it('log.format: json is JSON all the same', async () => {
    const shown = await shownInTerminal('{ format: json }')
    expect(jsonOf(shown)).toMatchObject(records)
    expect(shown).not.toContain(colour)
  })
})

describe('in a pipe', () => {
  it('a line is one of JSON', async () => {
    const written = await writtenToPipe('{}')
    expect(jsonOf(written)).toMatchObject(records)
    expect(textOf(written)).toEqual([])
  })

  it('log.format: text is the readable line, without colours', async () => {
    const written = await writtenToPipe('{ format: text }')
    expect(textOf(written)).toEqual(lines)
    expect(written).not.toContain(colour)
  })
})
