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

/** Signs with the operator's key; an adapter implements it. Throws a `TypeError` for an invalid key. */
export interface Signer {
  readonly rsaSha256: (privateKey: string, text: string) => SignedText
}

export interface SignedText {
  /** Base64. */
  readonly signature: string
  /** Base64 of the SHA-256 of the public key. */
  readonly keyId: string
}

export interface ProviderCredential {
  /** The headers that it writes, in lower case. */
  readonly headers: readonly string[]
  /** Whether they depend on the call. */
  readonly isSignature: boolean
  readonly encode: (key: string, request: UnsignedRequest, signer: Signer) => Headers
}

/** A header that holds the key, as clients send theirs. */
export function plainKey({ header, encode }: Pick<Credential, 'header' | 'encode'>): ProviderCredential {
  return { headers: [header], isSignature: false, encode: (key) => encode(key) }
}

/** An id of the key in one header, and an RSA signature (PKCS #1 v1.5, SHA-256) of the body in another. */
export function rsaSigned(keyIdHeader: string, signatureHeader: string): ProviderCredential {
  const [keyIdName, signatureName] = [keyIdHeader.toLowerCase(), signatureHeader.toLowerCase()]
  return {
    headers: [keyIdName, signatureName],
    isSignature: true,
    encode: (key, { body }, signer) => {
      const { keyId, signature } = signer.rsaSha256(key, body)
      return { [keyIdName]: keyId, [signatureName]: signature }
    },
  }
}
