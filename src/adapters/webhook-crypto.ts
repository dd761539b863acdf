/** node:crypto: encrypts the secrets of webhooks (AES-256-GCM), and signs what is sent as Standard Webhooks says (https://www.standardwebhooks.com). */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { SecretBox } from '../core/ports/webhooks.ts'

const algorithm = 'aes-256-gcm'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
/** Of the format, so that another one can follow. */
const version = 'v1:'

/** `keys`: in base64. The first encrypts, all decrypt. Bound to the webhook: the secret of one is none of another. */
export function secretBox(keys: readonly string[]): SecretBox {
  const [first, ...others] = keys.map(toKey)
  return {
    canSeal: first !== undefined,
    seal(secret, webhook) {
      if (!first) throw new Error('There is no key to encrypt with.')
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, first, nonce).setAAD(Buffer.from(webhook))
      const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return version + sealed.toString('base64')
    },
    open(sealed, webhook) {
      for (const key of first ? [first, ...others] : []) {
        const secret = decrypt(sealed, webhook, key)
        if (secret !== undefined) return secret
      }
      return undefined
    },
  }
}

function toKey(text: string): Buffer {
  return Buffer.from(hkdfSync('sha256', Buffer.from(text, 'base64'), '', 'secrets of webhooks', keyBytes))
}

function decrypt(sealed: string, webhook: string, key: Buffer): string | undefined {
  const bytes = sealed.startsWith(version) ? Buffer.from(sealed.slice(version.length), 'base64') : Buffer.alloc(0)
  if (bytes.length <= nonceBytes + tagBytes) return undefined
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(webhook)).setAuthTag(bytes.subarray(-tagBytes))
  try {
    return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}

const secretPrefix = 'whsec_'

/** 32 random bytes, as receivers get them. */
export function makeWebhookSecret(): string {
  return secretPrefix + randomBytes(32).toString('base64')
}

/** The three headers. `secrets`: one, or two while the one before still signs. `at`: seconds since 1970. */
export function signedHeaders(id: string, at: number, body: string, secrets: readonly string[]): Readonly<Record<string, string>> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signatures.join(' ') }
}
