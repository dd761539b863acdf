import { read, type Sources } from './read.ts'

/** Circular imports: one line for each circle, from its first file by name. */
export function circles(sources: Sources): readonly string[] {
  const imports = new Map(
    Object.entries(sources).map(([file, source]) => [
      file,
      read(file, source)
        .imports.map(({ of }) => of)
        .filter((of) => of in sources),
    ]),
  )
  const found = new Set<string>()
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file)
    if (at >= 0) {
      const circle = path.slice(at)
      const first = circle.indexOf(circle.toSorted().at(0) ?? file)
      found.add([...circle.slice(first), ...circle.slice(0, first)].join(' -> '))
      return
    }
    if (done.has(file)) return
    for (const next of imports.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of imports.keys()) visit(file, [])
  return [...found].toSorted()
}
