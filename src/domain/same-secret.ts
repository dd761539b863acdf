import { createHash, timingSafeEqual } from 'node:crypto'

/** Whether both texts are equal, in a time that tells nothing about them, not even their length. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digestOf(one), digestOf(other))
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
