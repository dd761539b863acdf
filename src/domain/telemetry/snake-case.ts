const known = new Map<string, string>()

/** `halfOpen` as `half_open`, for labels and logs. Results are cached without a bound: use only words of closed lists. */
export function snakeCase(word: string): string {
  const before = known.get(word)
  if (before !== undefined) return before
  const made = word.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  known.set(word, made)
  return made
}
