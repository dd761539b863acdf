/** docs/deployment.md: two real gateways behind each balancer of `deploy/`. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { balancerNames, seeLeavingLate } from './balancers.ts'
import { type SendOptions, type Site, startSite } from './site.ts'

const order = { coinFrom: 'XRP', coinTo: 'USDTERC20', amount: 1, rateType: 'float' }

const agents = [false, true].map((allowH2) => new Agent({ allowH2, connect: { rejectUnauthorized: false } })) as [Agent, Agent]
afterAll(() => Promise.all(agents.map((agent) => agent.destroy())))

describe.each(balancerNames)('behind %s', (name) => {
  let site: Site
  beforeAll(async () => {
    site = await startSite(name)
  }, 180_000)
  afterAll(() => site?.[Symbol.asyncDispose]())

  const send = (path: string, options?: SendOptions) => site.send(path, options)
  async function openStreams(): Promise<number> {
    const pages = await Promise.all(site.gateways.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()))
    return pages.reduce((sum, page) => sum + Number(/^swapgate_streams (\d+)$/m.exec(page)?.[1]), 0)
  }
  const create = (withdrawalAddress: string, headers = {}) =>
    send('/a/api/v2/transactions', { method: 'POST', headers, body: JSON.stringify({ ...order, withdrawalAddress }) })

  test('a client cannot say what its address is, for a read or a create', async () => {
    const forged = { 'x-forwarded-for': '198.51.100.7' }
    expect(await send('/a/api/v2/currencies?size=1', { headers: forged })).toMatchObject({ status: 200 })
    expect(await create('0xforged', forged)).toMatchObject({ status: 201 })
    const logged = () => site.gateways.map(({ output }) => output).join('')
    await expect.poll(() => logged().match(/"address":"127\.0\.0\.1"/g)?.length ?? 0).toBeGreaterThanOrEqual(2)
    expect(logged()).not.toContain('198.51.100.7')
  })

  test('a quiet stream stays open, and its changes come at once', { timeout: 120_000 }, async () => {
    await Promise.all(
      agents.map(async (agent, at) => {
        const headers = { authorization: `Bearer ${site.key}` }
        const { body } = await request(`${site.balancer.url}/a/api/v2/events`, { dispatcher: agent, headers })
        let text = ''
        body.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        // One at once, and one after 15 s.
        await expect.poll(() => text.split(': still here').length, { timeout: 40_000, interval: 100 }).toBe(3)
        await create(`0xstream${at}`)
        await expect.poll(() => text).toContain(`0xstream${at}`)
        body.on('error', () => {}).destroy()
      }),
    )
  })

  test('a client that comes back has its streams again: at once, or when the balancer has seen that it left', {
    timeout: 180_000,
  }, async () => {
    const key = await site.gateways[0].createKey('streaming')
    const open = async () => {
      const agent = new Agent({ connect: { rejectUnauthorized: false } })
      const headers = { authorization: `Bearer ${key}` }
      const path = `${site.balancer.url}/api/v2/events`
      const opened = Array.from({ length: 15 }, () => request(path, { dispatcher: agent, headers }))
      const statuses = (await Promise.all(opened)).map(({ statusCode, body }) => {
        body.on('error', () => {})
        return statusCode
      })
      await agent.destroy()
      return [...new Set(statuses)]
    }
    if (seeLeavingLate.has(name)) {
      expect(await open()).toEqual([200])
      await expect.poll(openStreams, { timeout: 60_000, interval: 500 }).toBe(0)
      expect(await open()).toEqual([200])
      return
    }
    // Four times at each gateway what an account has.
    for (let times = 0; times < 10; times++) await expect.poll(open).toEqual([200])
  })

  test('a create whose client hangs up is made all the same', async () => {
    await site.provider.fault({ operation: 'create', delay: 2_000 })
    const leaving = new AbortController()
    const body = JSON.stringify({ ...order, withdrawalAddress: '0xleft' })
    const headers = { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' }
    const options = { dispatcher: agents[0], method: 'POST', headers, body, signal: leaving.signal } as const
    const left = expect(request(`${site.balancer.url}/a/api/v2/transactions`, options)).rejects.toThrow()
    await expect.poll(() => readFileSync(site.provider.settings.journal, 'utf8')).toContain('0xleft')
    leaving.abort()
    await left
    await expect.poll(async () => (await send('/a/api/v2/transactions')).text).toContain('0xleft')
  })

  /** HAProxy may close on the rest of a long body before its client has read the answer of a gateway: curl then says 100, or none. */
  async function answered<Result extends { readonly status: number }>(send: () => Promise<Result>): Promise<Result> {
    const result = await send()
    return name === 'haproxy' && result.status <= 100 ? await answered(send) : result
  }

  test('a body of 3 MB is 413 in JSON, by the balancer or a gateway', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-body-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const file = join(directory, 'body')
    writeFileSync(file, JSON.stringify({ ...order, withdrawalAddress: '0'.repeat(3_000_000) }))
    for (const version of ['--http1.1', '--http2']) {
      const { status, text, type, retryAfter } = await answered(() => createFromFile(site, file, version))
      expect({ status, type, retryAfter }, text).toEqual({ status: 413, type: 'application/json; charset=utf-8', retryAfter: '' })
      expect(JSON.parse(text)).toMatchObject({ error: expect.any(String), message: expect.stringContaining('body'), code: 413 })
    }
  })

  test('a rolling restart fails no read and no create', { timeout: 300_000 }, async () => {
    const seen = new Map<number, number>()
    let isOver = false
    const load = [1, 2, 3].map(async (client) => {
      for (let at = 0; !isOver; at++) {
        const { status } = at % 5 === 0 ? await create(`0xroll${client}x${at}`) : await send('/a/api/v2/currencies?size=1')
        seen.set(status, (seen.get(status) ?? 0) + 1)
        await delay(20)
      }
    })
    try {
      for (const gateway of site.gateways) {
        await gateway.stop()
        await gateway.start()
        // The balancer has seen that it is back.
        await expect.poll(() => gateway.metrics()).toMatch(/^swapgate_requests_total\{.* [1-9]/m)
      }
    } finally {
      isOver = true
    }
    await Promise.all(load)
    expect([...seen.keys()].toSorted()).toEqual([200, 201])
  })
})

/** Of a create whose body is in this file. */
async function createFromFile({ balancer, key }: Site, file: string, version: string) {
  const stdout = await new Promise<string>((resolve) => {
    const headers = ['--header', `Authorization: Bearer ${key}`, '--header', 'Content-Type: application/json']
    const format = '\n%{http_code}\n%{content_type}\n%header{retry-after}'
    const args = ['--silent', '--insecure', version, '--max-time', '20', ...headers, '--write-out', format]
    execFile('curl', [...args, '--data', `@${file}`, `${balancer.url}/a/api/v2/transactions`], (_, text) => resolve(text))
  })
  const [text = '', status, type, retryAfter] = stdout.split('\n')
  return { status: Number(status), text, type, retryAfter }
}
