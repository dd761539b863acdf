/** Weighted rendezvous hashing: each subject ranks all targets by a score of its own, the same in every process (docs/lifecycle.md). */
import { hash } from 'node:crypto'

const bits = 52n

/**
 * The greatest score wins: `-weight / ln(u)`, where `u` is the first 52 bits of the SHA-256 of `<subject>\n<target>`, plus a
 * half, over 2^52. A subject's winner is each target with a probability in proportion to its weight; another weight moves a
 * subject only to or from that target. `weight` is above 0; `target` holds no line feed.
 */
export function rendezvousScore(subject: string, target: string, weight: number): number {
  const digest = hash('sha256', `${subject}\n${target}`, 'buffer').readBigUInt64BE(0) >> (64n - bits)
  const uniform = (Number(digest) + 0.5) / 2 ** Number(bits)
  return -weight / Math.log(uniform)
}
