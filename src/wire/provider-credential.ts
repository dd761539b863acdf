/** The credentials of a call to a provider. */
import type { Credential } from './credential.ts'
import type { Headers } from './http.ts'

/** An encoded call, without its headers. */
export interface UnsignedRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  /** Empty if there is none. */
  readonly body: string
}

/** Signs with what the operator has from a provider; an adapter implements it. */
export interface Signer {
  /** Throws a `TypeError` for an invalid key. */
  readonly rsaSha256: (privateKey: string, text: string) => SignedText
  /** In hexadecimal digits. */
  readonly hmacSha256: (secret: string, text: string) => string
}

export interface SignedText {
  /** Base64. */
  readonly signature: string
  /** Base64 of the SHA-256 of the public key. */
  readonly keyId: string
}

/** What a provider has issued for one account. */
export interface ProviderKeys {
  readonly key: string
  /** Of a form that `needsSecret`: signs calls, and is never sent. */
  readonly secret: string
}

export interface ProviderCredential {
  /** The headers that it writes, in lower case. */
  readonly headers: readonly string[]
  /** Whether they depend on the call. */
  readonly isSignature: boolean
  /** Whether a header has the key as it is. */
  readonly sendsKey: boolean
  readonly needsSecret: boolean
  readonly encode: (keys: ProviderKeys, request: UnsignedRequest, signer: Signer) => Headers
}

/** A header that holds the key, as clients send theirs. */
export function plainKey({ header, encode }: Pick<Credential, 'header' | 'encode'>): ProviderCredential {
  return { headers: [header], isSignature: false, sendsKey: true, needsSecret: false, encode: ({ key }) => encode(key) }
}

/** An id of the key in one header, and an RSA signature (PKCS #1 v1.5, SHA-256) of the body in another. */
export function rsaSigned(keyIdHeader: string, signatureHeader: string): ProviderCredential {
  const [keyIdName, signatureName] = [keyIdHeader.toLowerCase(), signatureHeader.toLowerCase()]
  return {
    headers: [keyIdName, signatureName],
    isSignature: true,
    sendsKey: false,
    needsSecret: false,
    encode: ({ key }, { body }, signer) => {
      const { keyId, signature } = signer.rsaSha256(key, body)
      return { [keyIdName]: keyId, [signatureName]: signature }
    },
  }
}

/** The key in one header, and the HMAC (SHA-256) of the body with the account's secret in another. */
export function hmacSigned(keyHeader: string, signatureHeader: string): ProviderCredential {
  const [keyName, signatureName] = [keyHeader.toLowerCase(), signatureHeader.toLowerCase()]
  return {
    headers: [keyName, signatureName],
    isSignature: true,
    sendsKey: true,
    needsSecret: true,
    encode: ({ key, secret }, { body }, signer) => ({ [keyName]: key, [signatureName]: signer.hmacSha256(secret, body) }),
  }
}
