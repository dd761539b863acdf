// Takes long: terminals.
/** docs/contract-operators.md §15: a start at a terminal makes a token, as long as the sandbox is the only provider. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { freePorts } from '../container/ports.ts'
import { sendRequest } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { hasTerminal, TerminalGateway } from '../support/terminal-gateway.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

const read = (adminUrl: string, path: string, token: string) =>
  sendRequest(adminUrl, { path, headers: { authorization: `Bearer ${token}` } })
const pageAt = async (adminUrl: string): Promise<readonly [number, string | null, string]> => {
  const response = await fetch(`${adminUrl}/`)
  return [response.status, response.headers.get('content-type'), await response.text()]
}
const status = async ({ adminUrl, token }: TerminalGateway): Promise<number> => (await read(adminUrl, '/api/token', token)).status

const gamma = '  gamma: { form: A, url: "http://127.0.0.1:1/api/v2", state: off }\n'
const withGamma = (text: string): string => text.replace('providers:\n', `providers:\n${gamma}`)
const withoutGamma = (text: string): string => text.replace(gamma, '')

describe.runIf(hasTerminal)('at a terminal, with nothing but the sandbox', () => {
  it('the start ends with the URL of the page, whose token has every role', async () => {
    await using gateway = await TerminalGateway.start()
    expect(gateway.output.trimEnd().split('\r\n').at(-1)).toBe(`  ${gateway.adminUrl}/#token=${gateway.token}`)
    expect(gateway.token).toMatch(/^sg_start_[\w-]{32}$/)
    const [pageStatus, type, html] = await pageAt(gateway.adminUrl)
    expect([pageStatus, type]).toEqual([200, 'text/html; charset=utf-8'])
    expect(html).not.toContain(gateway.token)
    const { json } = await read(gateway.adminUrl, '/api/token', gateway.token)
    expect(json).toEqual({ name: 'start', roles: ['read', 'operate', 'money'], mayKeep: false })
    expect((await read(gateway.adminUrl, '/api/token', `${gateway.token}x`)).status).toBe(401)
  })

  it('it is in no file, no log, no metric, no record and no answer, also after what fails and after the end', async () => {
    await using gateway = await TerminalGateway.start()
    const { adminUrl, directory, token } = gateway
    const headers = { authorization: `Bearer ${token}` }
    const texts: string[] = []
    for (const path of ['/api/configuration', '/api/audit', '/api/health', '/api/transactions', '/api/nowhere', '/api/token?x=1'])
      texts.push((await sendRequest(adminUrl, { path, headers })).text)
    texts.push((await sendRequest(adminUrl, { method: 'POST', path: '/api/settlements', headers, body: token })).text)
    texts.push((await sendRequest(gateway.url, { path: '/a/api/v2/transactions', headers })).text)
    texts.push(await gateway.metrics(), readFileSync(`/proc/${gateway.processId}/environ`, 'utf8'))
    await gateway.reload((text) => `${text}\n`)
    await gateway.stop()
    texts.push(
      ...globSync('**/*', { cwd: directory, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')),
    )
    expect(texts.filter((text) => text.includes(token))).toEqual([])
    expect(gateway.output.split(token)).toHaveLength(2)
  })

  it('a second start does not take it', async () => {
    await using first = await TerminalGateway.start()
    await using second = await TerminalGateway.start()
    expect(await status(first)).toBe(200)
    expect((await read(second.adminUrl, '/api/token', first.token)).status).toBe(401)
  })

  it.each([1, 2])('with %i workers it ends for good with the reload that adds a provider', async (workers) => {
    await using gateway = await TerminalGateway.start((text) => text.replace('server:\n', `server:\n  workers: ${workers}\n`))
    const { adminUrl, token } = gateway
    expect(await status(gateway)).toBe(200)
    const events = await fetch(`${adminUrl}/api/events`, { headers: { authorization: `Bearer ${token}` } })
    await gateway.reload(withGamma)
    expect(await status(gateway)).toBe(404)
    await events.body?.pipeTo(new WritableStream()).catch(() => {})
    expect(gateway.output).toContain("warning: the operator's page: the token of this start has ended")
    await gateway.reload(withoutGamma)
    expect(await status(gateway)).toBe(404)
  })

  it('it ends with the reload that sets admin.tokens', async () => {
    await using gateway = await TerminalGateway.start()
    const alice = 'operator-token-of-alice-0123456789'
    await gateway.reload((text) => text.replace('admin:\n', `admin:\n  tokens: { alice: ${alice} }\n`))
    expect(await status(gateway)).toBe(401)
    expect((await read(gateway.adminUrl, '/api/token', alice)).status).toBe(200)
  })

  it('it ends with the reload of another admin.host', async () => {
    await using gateway = await TerminalGateway.start()
    await gateway.reload((text) => text.replace(/admin:\n {2}host: .*\n/, 'admin:\n  host: 0.0.0.0\n'))
    expect(await status(gateway)).toBe(404)
  })

  it('a reload that is refused leaves it', async () => {
    await using gateway = await TerminalGateway.start()
    writeFileSync(gateway.file, `${withGamma(readFileSync(gateway.file, 'utf8'))}\ncolour: red\n`)
    await expect.poll(() => gateway.log, { timeout: eventTimeoutMs }).toContain('reload rejected')
    expect(await status(gateway)).toBe(200)
  })
})

const help = [
  expect.stringMatching(/^The operator's page is off: admin\.tokens is empty\. .*openssl rand -hex 24/),
  `Then in it: admin: { tokens: { operator: "\${file:operator-token}" } }`,
]

describe.runIf(hasTerminal)('elsewhere the start and the admin port say how to get a token', () => {
  it.each([
    ['with another provider', withGamma],
    [
      'where the admin port is not on loopback',
      (text: string) => text.replace(/admin:\n {2}host: .*\n/, 'admin:\n  host: 0.0.0.0\n'),
    ],
    ['without the sandbox', (text: string) => text.replace('enabled: true', 'enabled: false')],
  ])('%s', async (_, edit) => {
    await using gateway = await TerminalGateway.start(edit)
    expect(gateway.output.trimEnd().split('\r\n').slice(-2)).toEqual(help)
    const [pageStatus, type, text] = await pageAt(gateway.adminUrl)
    expect([pageStatus, type, text.trimEnd().split('\n')]).toEqual([404, 'text/plain; charset=utf-8', help])
  })

  it('where the output is no terminal', async () => {
    using directory = new ConfigDirectory()
    const { sandbox } = await freePorts()
    const provider = `providers: { alpha: { form: A, url: "http://127.0.0.1:${sandbox}/a/api/v2" } }\nrouting: { providers: [alpha] }`
    const file = directory.write(
      `server: { port: 0 }\nadmin: { port: 0 }\n${provider}\nsandbox: { enabled: true, port: ${sandbox} }`,
    )
    await using swapgate = new Swapgate(['start', '--config', file], { cwd: directory.path })
    const adminUrl = (await swapgate.urls()).get('admin') ?? ''
    await expect.poll(() => swapgate.printed.slice(-2)).toEqual(help)
    const [pageStatus, , text] = await pageAt(adminUrl)
    expect([pageStatus, text.trimEnd().split('\n')]).toEqual([404, help])
    expect((await sendRequest(adminUrl, { path: '/api/token' })).status).toBe(404)
  })

  it('the lines are right: the file is read, beside the configuration', async () => {
    await using gateway = await TerminalGateway.start(withGamma)
    const token = 'operator-token-of-alice-0123456789'
    writeFileSync(join(gateway.directory, 'operator-token'), `${token}\n`)
    await gateway.reload((text) => text.replace('admin:\n', `admin:\n  tokens: { operator: "\${file:operator-token}" }\n`))
    expect((await read(gateway.adminUrl, '/api/token', token)).status).toBe(200)
  })
})
