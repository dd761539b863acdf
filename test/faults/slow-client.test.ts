// Takes long: it waits for a timer of Node that cannot be shortened.
/** docs/contract.md §6: 408, after a timer of Node. */
import { expect, test } from 'vitest'
import { expectErrorBody } from '../support/expectations.ts'
import { readJson } from '../support/json.ts'
import { startPair } from '../support/pair.ts'
import { sendRaw } from '../support/raw.ts'

test('headers that do not arrive in time are 408 in a form, and the connection is closed', async () => {
  const pair = await startPair('A', 'A')
  const response = await sendRaw(pair.gateway.port, 'GET /a/api/v2/currencies HTTP/1.1\r\nHost: gateway\r\nX-Slow: ', 2_600)
  await pair.close()
  expect(response.status).toBe(408)
  expect(response.head).toMatch(/\r\nx-swap-reason: too_slow(?:\r\n|$)/)
  expectErrorBody(readJson(response.body), 'A', 408)
  expect(response.closed).toBe(true)
})
