import { randomBytes } from 'node:crypto'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { makeWebhookSecret, secretBox, signedHeaders } from './webhook-crypto.ts'

const [first, second] = [randomBytes(32), randomBytes(64)].map((bytes) => bytes.toString('base64')) as [string, string]

describe('a secret box', () => {
  it('opens what any of its keys has sealed, and seals with the first', () => {
    const sealed = secretBox([first]).seal('secret', 'wh_1')
    const both = secretBox([second, first])
    expect(both.open(sealed, 'wh_1')).toBe('secret')
    expect(secretBox([second]).open(both.seal('secret', 'wh_1'), 'wh_1')).toBe('secret')
    expect(secretBox([first]).open(both.seal('secret', 'wh_1'), 'wh_1')).toBeUndefined()
  })

  it('opens nothing for another webhook, nor what was changed', () => {
    const { seal, open } = secretBox([first])
    const sealed = seal('secret', 'wh_1')
    expect(open(sealed, 'wh_2')).toBeUndefined()
    for (let at = 3; at < sealed.length; at += 5) {
      const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
      expect(open(changed, 'wh_1')).not.toBe('other')
      expect([undefined, 'secret']).toContain(open(changed, 'wh_1'))
    }
    for (const text of ['', 'v1:', 'v1:AAAA', 'v2:AAAA', sealed.slice(0, 20)]) expect(open(text, 'wh_1')).toBeUndefined()
  })

  it('seals the same secret differently each time', () => {
    const { seal } = secretBox([first])
    expect(seal('secret', 'wh_1')).not.toBe(seal('secret', 'wh_1'))
  })

  it('without a key seals nothing and opens nothing', () => {
    const { canSeal, seal, open } = secretBox([])
    expect(canSeal).toBe(false)
    expect(() => seal('secret', 'wh_1')).toThrow()
    expect(open(secretBox([first]).seal('secret', 'wh_1'), 'wh_1')).toBeUndefined()
  })
})

describe('signatures', () => {
  const now = Math.floor(Date.now() / 1000)
  const body = '{"type":"transaction.updated","data":{"coin":"₿"}}'

  it('are those of Standard Webhooks, by its own library', () => {
    const secret = makeWebhookSecret()
    const headers = signedHeaders('wh_1_7', now, body, [secret])
    expect(new Webhook(secret).verify(body, { ...headers })).toEqual(JSON.parse(body))
    expect(headers['webhook-signature']).toBe(new Webhook(secret).sign('wh_1_7', new Date(now * 1000), body))
    expect(() => new Webhook(secret).verify(`${body} `, { ...headers })).toThrow(WebhookVerificationError)
    expect(() => new Webhook(makeWebhookSecret()).verify(body, { ...headers })).toThrow(WebhookVerificationError)
  })

  it('are two during an overlap, each good alone', () => {
    const secrets = [makeWebhookSecret(), makeWebhookSecret()]
    const headers = signedHeaders('wh_1_7', now, body, secrets)
    for (const secret of secrets) expect(new Webhook(secret).verify(body, { ...headers })).toEqual(JSON.parse(body))
  })
})
