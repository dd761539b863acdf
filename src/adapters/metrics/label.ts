/** Values of labels: the words of closed lists, which hold no line break, joined into one key while they are counted. */

/** Between the values in a key. */
const separator = '\n'

interface Branch {
  readonly branches: Map<string, Branch>
  /** The values up to here. */
  readonly key: string
}

/** Makes each key once: a long text that is made anew has to be copied and hashed with every request. */
export class Keys {
  private readonly root: Branch = { branches: new Map(), key: '' }

  /** For values from closed lists: a key is never forgotten. */
  of(...values: readonly string[]): string {
    let branch = this.root
    for (const value of values) branch = branch.branches.get(value) ?? grow(branch, value, this.root)
    return branch.key
  }
}

function grow(parent: Branch, value: string, root: Branch): Branch {
  const branch = { branches: new Map(), key: parent === root ? value : parent.key + separator + value }
  parent.branches.set(value, branch)
  return branch
}

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
