/** `docs/webhooks.md` says how to verify a webhook: its example, by node:crypto, by the gateway and by a library of Standard Webhooks. */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { readWebhook } from '../../clients/typescript/webhooks.ts'
import { signedHeaders } from '../../src/adapters/webhook-crypto.ts'

const [, section = ''] = readFileSync('docs/webhooks.md', 'utf8').split(/^### The signature$/m)
const [, example = ''] = /```text\n([\s\S]*?)```/.exec(section) ?? []
const shown = (name: string): string => new RegExp(`^${name} +(.+)$`, 'm').exec(example)?.[1] ?? ''
const [secret, id, timestamp, body] = ['secret', 'webhook-id', 'webhook-timestamp', 'body'].map(shown) as [
  string,
  string,
  string,
  string,
]
const signature = shown('webhook-signature')

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

it('by hand', () => {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  expect(key.length).toBe(32)
  expect(signature).toBe(`v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
})

it('as the gateway signs, with the new secret first', () => {
  const other = `whsec_${Buffer.alloc(32).toString('base64')}`
  const [, second] = signedHeaders(id, Number(timestamp), body, [other, secret])['webhook-signature']?.split(' ') ?? []
  expect(second).toBe(signature)
})

it('up to five minutes before and after its time', () => {
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  const read = (seconds: number) => {
    vi.setSystemTime((Number(timestamp) + seconds) * 1_000)
    return readWebhook(body, headers, secret)
  }
  for (const seconds of [-300, 0, 300]) expect(read(seconds)).toMatchObject({ id, type: 'webhook.test' })
  for (const seconds of [-301, 301]) expect(() => read(seconds)).toThrow(/timestamp/i)
})
