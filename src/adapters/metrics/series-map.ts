/** Values of labels. They come from closed lists, so that the number of series is bounded. */
export type LabelValues = readonly string[]

interface Branch<T> {
  /** The last value of this branch. */
  readonly value: string | undefined
  /** All values up to this branch. */
  readonly values: LabelValues
  readonly branches: Map<string, Branch<T>>
  /** The branch of the last lookup. */
  latest: Branch<T> | undefined
  series: T | undefined
}

/**
 * A map with one series for each combination of values. Does not join the values: a new string must be hashed. Most lookups
 * repeat the previous one, and a comparison is cheaper than a hash table.
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

  /** All series, ordered by the first use of each value. */
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

/** Every combination of one value from each list. */
export function combinations(...lists: readonly LabelValues[]): readonly LabelValues[] {
  const [first, ...others] = lists
  if (!first) return [[]]
  const combinationsOfOthers = combinations(...others)
  return first.flatMap((value) => combinationsOfOthers.map((tail) => [value, ...tail]))
}
