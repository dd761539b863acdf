/** Values of labels: words of closed lists, so that whatever is kept of them need never be forgotten. */
export type LabelValues = readonly string[]

interface Branch<T> {
  /** The last of its values. */
  readonly value: string | undefined
  /** The values up to here. */
  readonly values: LabelValues
  readonly branches: Map<string, Branch<T>>
  /** The one that was asked for last. */
  latest: Branch<T> | undefined
  series: T | undefined
}

/**
 * One thing for each combination of values; it is found without joining them, since a text that is made anew has to be hashed.
 * Most of what is asked for is as it was the time before: to see that takes a comparison, where to look it up takes a hash table.
 */
export class SeriesMap<T> {
  private readonly make: () => T
  private readonly root: Branch<T> = branchOf([])

  constructor(make: () => T) {
    this.make = make
  }

  of(values: LabelValues): T {
    let branch = this.root
    for (const value of values) branch = branch.latest?.value === value ? branch.latest : next(branch, value)
    branch.series ??= this.make()
    return branch.series
  }

  /** In the order of the values, as each was first seen. */
  all(): readonly (readonly [LabelValues, T])[] {
    return [...leaves(this.root)]
  }
}

function branchOf<T>(values: LabelValues): Branch<T> {
  return { value: values.at(-1), values, branches: new Map(), latest: undefined, series: undefined }
}

function next<T>(from: Branch<T>, value: string): Branch<T> {
  const branch = from.branches.get(value) ?? grow(from, value)
  from.latest = branch
  return branch
}

function grow<T>(from: Branch<T>, value: string): Branch<T> {
  const branch = branchOf<T>([...from.values, value])
  from.branches.set(value, branch)
  return branch
}

function* leaves<T>({ values, series, branches }: Branch<T>): Generator<readonly [LabelValues, T]> {
  if (series !== undefined) yield [values, series]
  for (const branch of branches.values()) yield* leaves(branch)
}

export function labelsOf(names: readonly string[], values: LabelValues): Record<string, string> {
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))
}

/** Every combination of these. */
export function combinations(...lists: readonly LabelValues[]): readonly LabelValues[] {
  const [first, ...others] = lists
  if (!first) return [[]]
  const combinationsOfOthers = combinations(...others)
  return first.flatMap((value) => combinationsOfOthers.map((tail) => [value, ...tail]))
}
