/** docs/observability.md: why a provider could not be reached or read is in the log, in a metric and in `providers status`; clients do not see it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { StatusReport } from '../../src/core/operations/provider-status.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { client } from '../support/pair.ts'
import { rawResponse, startRawProvider } from '../support/raw.ts'
import { requestLines } from './log-lines.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-causes-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

it('a closed port, a body that is no JSON, one that is cut off, one of another form', { timeout: 30_000 }, async () => {
  const bodies = [rawResponse('<html>'), 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{', rawResponse('{}')]
  const alpha = await startRawProvider((socket, request) => {
    socket.end(bodies[Number(/\/tx-(\d)/.exec(request)?.[1])] ?? rawResponse('{}'))
  })
  const gateway = await InProcessGateway.start({
    ...{ directory, mode: 'passthrough', providers: { alpha: { form: 'A', url: alpha.url } } },
  })
  const caller = client('A', gateway.url)
  const responses: string[] = []
  for (const id of ['alpha~tx-0', 'alpha~tx-1', 'alpha~tx-2', 'alpha~tx-3']) {
    if (id === 'alpha~tx-3') await alpha.close()
    const { status, text } = await caller.get(`/transactions/${id}`, { key: 'client-key-of-this-test' })
    expect([id, status]).toEqual([id, 502])
    responses.push(text)
  }
  expect(responses.join()).not.toMatch(/not_json|cut_off|not_of_form|refused|ECONN/)
  await expect.poll(() => requestLines(gateway.output).length).toBe(4)
  expect(requestLines(gateway.output).map(({ error }) => error)).toMatchObject([
    { cause: 'not_json', name: 'Error', message: 'not JSON at position 0' },
    { cause: 'cut_off', code: 'UND_ERR_SOCKET' },
    { cause: 'not_of_form' },
    { cause: 'refused', code: 'ECONNREFUSED' },
  ])
  expect(gateway.output).not.toContain('"stack"')
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text()
  const counted = metrics.match(/^swapgate_provider_un(?:reachable|readable)_total\{.*\} [1-9].*$/gm)
  expect(counted?.map((line) => /provider="(\w+)",cause="(\w+)"/.exec(line)?.slice(1).join(' ')).toSorted()).toEqual([
    ...['alpha cut_off', 'alpha not_json', 'alpha not_of_form', 'alpha refused'],
  ])
  const live = async () => ((await gateway.command('providers', 'status')) as StatusReport).providers.map((row) => row.live?.causes)
  await expect.poll(async () => (await live())[0]?.refused ?? 0).toBeGreaterThan(0)
  expect((await live())[0]).toMatchObject({ not_json: expect.any(Number), cut_off: expect.any(Number) })
  await gateway.stop()
})
