import { describe, expect, it } from 'vitest'
import { signer } from './crypto.ts'

/** A key of these tests alone, as PKCS #8 in base64. */
const key =
  'MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAKiSBNiYU7BmtiPYmjYUEe8mB2wmd0jYN5lMyww6b8CARBAkmuBo6hBnNCpttH' +
  'sDFGrmSgG1dJyjTTKDoFSR5gxs6wLgvIjtiy42ZVc2ienZmUHvZYmtzsYINNPzqnEYEaX0smms9bffRHeDJVsjVM/b7w1u7ZUlSWCZ8c0Ns0jV' +
  'AgMBAAECgYBH72AQChkUmxA5BdLxJulsU58xQM0AkfxP+BxiEIHl9RaWiPhqsXrJGzGAtaYiJHNPFw0X45ZqzalA2DjQPh6cF0T+fKeNSWOeeR' +
  'iEBJKBhyzFBePd7U7shpaxNVe2lUib2KTApMz6vUilyLOoDt0EPnzy8D8riJeoQ1WGBxIgwQJBANssW+V+YOKq07r+xVhO7YoQC/BNL0OGbPx4' +
  'EwPfC4uGhrT7gzOwD2UaGaX5gBUlc9YHl9R3MOpLmH3S3gv1lMUCQQDE5P/GZgC1tjPBbRhl/hOJUfncMXtLH/2tujX3Ol3zlZMH8elFCSNviz' +
  'F734jn5QWP8HjJe9cHSjBAPjoD9sTRAkEAxEZrXY/Zr+OPjUyO6lB0hUlth5t3kh8WBtp5HORn8GFezUDX9Dfc8Yt4IJzZSRarL6bJH2pGEev0' +
  '+ekXFNquiQJBAKWP+hOWShqCL1sCpXV+BGd/6x5g7U/qgqHG5wIQrlfY+l2/6WsHmCh/XwjOmoyEY/z5NFgYLmQO2ivrJ1WV90ECQQC5SZRZEU' +
  'xXCx9XybXeSK+1/u0rvVJMy9i8T1RvCPUV9QA4vawe5Hgc9ejOJjAbxDxRu2jnNbqSjWc/ICJpj+Mg'
const body = '{"jsonrpc":"2.0","id":"test","method":"getStatus","params":{"id":"pgj1"}}'
/** By `openssl dgst -sha256 -sign`. */
const signature =
  'i1h9FtyKWJKvzTe/V8h0iiEJxPQIVLefHQeGHReNwDpHBleQPnmdZ3GwezCXeu7VZm2FuTzeeAAGrvbqt8Lf3AC7apBhBYQ3ieyxVPOZG8zIle' +
  'eb7h1WW8fxZR4tCHhP1+zI4K12pB7KPW1keCFPf/MlYWLoq0nduVsFOemFMjs='
/** By `openssl rsa -RSAPublicKey_out -outform DER | openssl dgst -sha256 -binary`. */
const keyId = 'g4vUpQA3aBlk2pX7seAZsGl8JxLzziVFVkm8Cl66X3w='

/** RFC 4231, 4.3 and 4.7. */
it.each([
  ['Jefe', 'what do ya want for nothing?', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
  ['', '', 'b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad'],
])('an HMAC is that of the standard: %j, %j', (secret, text, expected) => {
  expect(signer.hmacSha256(secret, text)).toBe(expected)
})

describe('an RSA signature', () => {
  const der = Buffer.from(key, 'base64')
  const pem = `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`

  it.each([
    ['in base64', key],
    ['in hexadecimal digits', der.toString('hex')],
    ['in PEM', pem],
  ])('is that of openssl, with a key %s', (_, privateKey) => {
    expect(signer.rsaSha256(privateKey, body)).toEqual({ signature, keyId })
  })

  it('depends on each byte of the text', () => {
    expect(signer.rsaSha256(key, `${body} `).signature).not.toBe(signature)
    expect(signer.rsaSha256(key, 'é').signature).not.toBe(signer.rsaSha256(key, 'e').signature)
  })

  it.each(['', 'sandbox-key-1', 'abcdef', key.slice(0, 100)])('throws for a key that is none: %j', (privateKey) => {
    expect(() => signer.rsaSha256(privateKey, body)).toThrow()
  })
})
