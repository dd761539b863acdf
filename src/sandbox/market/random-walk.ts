/** A seeded random walk whose value at any moment is computed directly. */

const shortestPeriodMs = 60_000
const octaves = 9

/**
 * Where the walk of `name` stands at a moment in milliseconds: from -1 to 1, the same for the same seed. It is a sum of
 * steady curves, each four times as slow and twice as wide as the one before, as a random walk's are; the slowest takes
 * some 45 days, and past that the walk returns to 0.
 */
export function randomWalk(seed: number, name: string, at: number): number {
  let sum = 0
  let widths = 0
  for (let octave = 0; octave < octaves; octave++) {
    const width = 2 ** octave
    sum += width * curve(`${seed}:${name}:${octave}`, at / (shortestPeriodMs * 4 ** octave))
    widths += width
  }
  return sum / widths
}

/** A line through random points, one at each whole number. */
function curve(name: string, position: number): number {
  const before = Math.floor(position)
  const share = position - before
  return (1 - share) * point(`${name}:${before}`) + share * point(`${name}:${before + 1}`)
}

/** From -1 to 1, evenly: FNV-1a, then the last step of MurmurHash3, since FNV alone keeps neighbours close. */
function point(name: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (((hash ^ (hash >>> 16)) >>> 0) / 0xffffffff) * 2 - 1
}
