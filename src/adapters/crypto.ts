/** node:crypto: signs calls to providers that require a signature, with the operator's key or secret. */
import { createHmac, createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto'
import type { Signer } from '../wire/provider-credential.ts'

export const signer: Signer = {
  /** The private key: PEM, or PKCS #8 in base64 or in hexadecimal digits. */
  rsaSha256(privateKey, text) {
    const key = parseKey(privateKey)
    const publicKey = createPublicKey(key).export({ type: 'pkcs1', format: 'der' })
    return {
      keyId: hash('sha256', publicKey, 'base64'),
      signature: sign('RSA-SHA256', Buffer.from(text), key).toString('base64'),
    }
  },
  hmacSha256: (secret, text) => createHmac('sha256', secret).update(text).digest('hex'),
}

function parseKey(text: string): KeyObject {
  if (text.includes('-----BEGIN')) return createPrivateKey(text)
  const key = Buffer.from(text, /^[0-9a-f]+$/i.test(text) ? 'hex' : 'base64')
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
}

// node:crypto: hashes keys, so that no key is stored.

/** SHA-256 in hexadecimal digits. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}
