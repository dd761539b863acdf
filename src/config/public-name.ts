/** Names in messages about a configuration. A secret in the place of a key is not shown. */

const shape = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,23}$/
const separator = /[_.-]/
const suspicious = /secret|passw|token|api|key|canary|^(?:sk|pk|rk)[_-]/i
/** No key or code with a separator, or with a digit, is longer. */
const maxSeparatedLength = 16
const maxNumberedLength = 11
const maxDigitRuns = 1

/** The name, if it looks like the name of a key, code or provider; else only its length. */
export function publicName(name: string): string {
  return isWord(name) ? name : `<${[...name].length} characters>`
}

function isWord(name: string): boolean {
  if (!shape.test(name)) return false
  const digitRuns = name.match(/\d+/g)?.length ?? 0
  if (digitRuns > maxDigitRuns || (digitRuns > 0 && name.length > maxNumberedLength)) return false
  // Each part of a camelCase word has some letters.
  if ((name.match(/[a-z][A-Z]/g)?.length ?? 0) > name.length / 4) return false
  if (!separator.test(name)) return true
  return digitRuns === 0 && name.length <= maxSeparatedLength && !suspicious.test(name)
}
