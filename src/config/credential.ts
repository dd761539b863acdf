/** Checks a provider's key: where it is sent, whether it is needed, and whether it can sign. */
import { signer } from '../adapters/crypto.ts'
import { isLoopback } from '../domain/network-address.ts'
import type { ProviderCredential } from '../wire/provider-credential.ts'
import type { ProviderForm } from '../wire/provider-form.ts'
import type { Faults } from './faults.ts'
import type { ProviderSettings, Settings } from './schema.ts'

type Mode = Settings['auth']['mode']

/** Spaces at its ends would not arrive. */
const headerValue = /^(?! )[\x20-\x7e]+(?<! )$/

/** No fault has the key. */
export function checkKey({ url, key, listKey }: ProviderSettings, mode: Mode | undefined, faults: Faults): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'http:' && (key !== '' || listKey !== '') && !isLoopback(hostname))
    faults.add(['url'], 'must be https where a key is sent')
  if (mode === 'managed' && key === '') faults.add(['key'], 'is needed where auth.mode is managed')
}

export function checkCredential(
  { key, listKey }: ProviderSettings,
  { name, credential, keyed }: ProviderForm,
  mode: Mode | undefined,
  faults: Faults,
): void {
  if (mode === 'passthrough' && credential.isSignature)
    faults.add(['form'], `needs auth.mode managed: calls of the form ${name} are signed, and clients cannot send a signature`)
  else if (mode === 'passthrough' && key === '' && keyed.has('getRate'))
    faults.add(['key'], `is needed: quotes of the form ${name} need one of the gateway's own`)
  for (const [name, word] of Object.entries({ key, listKey })) {
    if (!credential.isSignature && word !== '' && !headerValue.test(word))
      faults.add([name], 'must be one line of visible characters of ASCII: no header can carry another')
    if (credential.isSignature && word !== '' && !canSign(credential, word))
      faults.add([name], 'must be a private RSA key: in PEM, or PKCS #8 in base64 or in hexadecimal digits')
  }
}

function canSign(credential: ProviderCredential, key: string): boolean {
  try {
    credential.encode(key, { method: 'POST', path: '', query: '', body: '' }, signer)
    return true
  } catch {
    return false
  }
}
