/** node:crypto: who a key is, without the key. */
import { hash } from 'node:crypto'

/** SHA-256 in hexadecimal digits. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}
