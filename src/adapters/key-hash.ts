/** node:crypto: hashes keys, so that no key is stored. */
import { hash } from 'node:crypto'

/** SHA-256 in hexadecimal digits. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}
