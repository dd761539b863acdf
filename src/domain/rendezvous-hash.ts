/** Weighted rendezvous hashing: ranks all targets for a subject, with the same result in every process. */
import { hash } from 'node:crypto'

const bits = 52n

/**
 * The target with the greatest score wins. The score is `-weight / ln(u)`, where `u` is the first 52 bits of the SHA-256 of
 * `<subject>\n<target>`, plus a half, over 2^52. Each target wins with a probability in proportion to its weight; a changed weight
 * moves a subject only to or from that target. `weight` must be above 0; `target` must not contain a line feed.
 */
export function rendezvousScore(subject: string, target: string, weight: number): number {
  const digest = hash('sha256', `${subject}\n${target}`, 'buffer').readBigUInt64BE(0) >> (64n - bits)
  const uniform = (Number(digest) + 0.5) / 2 ** Number(bits)
  return -weight / Math.log(uniform)
}
