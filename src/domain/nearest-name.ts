/** The name that a typo may have meant. */

/** Letters that a typo changes, at most: one in a short word. */
const maxTypo = 2
const shortWord = 5

/** Undefined if none is near. Ignores case. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const lowered = name.toLowerCase()
  const [nearest] = known
    .map((word) => ({ word, distance: editDistance(lowered, word.toLowerCase()) }))
    .filter(({ word, distance }) => distance <= (word.length > shortWord ? maxTypo : 1))
    .toSorted((one, other) => one.distance - other.distance)
  return nearest?.word
}

/** Letters that are added, left out, replaced or swapped with the next one, between words of ordinary length. */
function editDistance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > maxTypo) return maxTypo + 1
  let [beforeLast, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let at = 1; at <= other.length; at++) {
      const isEqual = one[row - 1] === other[at - 1]
      const isSwapped = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1]
      const replaced = (last[at - 1] ?? 0) + (isEqual ? 0 : 1)
      const least = Math.min(replaced, (last[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1)
      current.push(isSwapped ? Math.min(least, (beforeLast[at - 2] ?? 0) + 1) : least)
    }
    ;[beforeLast, last] = [last, current]
  }
  return last[other.length] ?? 0
}
