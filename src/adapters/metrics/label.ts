/** Values of labels: the words of closed lists, which hold no line break, joined into one key while they are counted. */

/** Between the values in a key. */
const separator = '\n'

export function labelsOf(names: readonly string[], key: string): Record<string, string> {
  const values = key.split(separator)
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))
}

/** Every combination of these, as keys. */
export function combinations(...lists: readonly (readonly string[])[]): readonly string[] {
  const [first, ...others] = lists
  if (!first) return ['']
  if (others.length === 0) return first
  return first.flatMap((value) => combinations(...others).map((rest) => value + separator + rest))
}
