/** The sandbox is a separate service, also for bytes that are no valid request. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig, packagedConfigFile } from '../../src/config/index.ts'
import { knownForms } from '../../src/forms/index.ts'
import { openSandbox } from '../../src/process/sandbox.ts'
import { sendRaw } from '../support/raw.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-sandbox-'))
let sandbox: Awaited<ReturnType<typeof openSandbox>>
beforeAll(async () => {
  const config = loadConfig(packagedConfigFile, knownForms, {})
  sandbox = await openSandbox({ ...config, sandbox: { ...config.sandbox, port: 0, data: join(directory, 'sandbox.db') } })
})
afterAll(async () => {
  await sandbox.close()
  rmSync(directory, { recursive: true })
})

const host = 'Host: 127.0.0.1'

describe('what the parser refuses', () => {
  test.each([
    ['garbage', 'GARBAGE\r\n\r\n', 400, 'parameter_invalid'],
    ['a header with a control character', `GET /a/api/v2/rate HTTP/1.1\r\n${host}\r\nA: \x01\r\n\r\n`, 400, 'parameter_invalid'],
    ['garbage at a path of the control', `GET /sandbox/faults HTTP/1.1\r\n${host}\r\nA: \x01\r\n\r\n`, 400, 'parameter_invalid'],
    ['no Host', 'GET /a/api/v2/currencies HTTP/1.1\r\n\r\n', 400, 'parameter_invalid'],
    ['large headers', `GET / HTTP/1.1\r\n${host}\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'too_large'],
    ['CONNECT', `CONNECT evil:443 HTTP/1.1\r\n${host}\r\n\r\n`, 400, 'path'],
  ])('H24: %s gets an error, with a body and a reason', async (_, bytes, status, reason) => {
    const response = await sendRaw(sandbox.port, bytes)
    expect(response.status).toBe(status)
    expect(JSON.parse(response.body)).toMatchObject({ code: status })
    expect(response.head).toContain(`x-swap-reason: ${reason}`)
    expect(response.head).toContain('x-content-type-options: nosniff')
  })

  test('H24: a good request gets its response as before', async () => {
    const request = `GET /b/api/v2/currencies?size=1 HTTP/1.1\r\n${host}\r\nX-API-Key: sandbox-key-1\r\nConnection: close\r\n\r\n`
    expect((await sendRaw(sandbox.port, request)).status).toBe(200)
    expect((await sendRaw(sandbox.port, `GET /sandbox/faults HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`)).status).toBe(200)
  })
})
