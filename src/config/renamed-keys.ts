/** Keys with an earlier name: it is read for one version, with a warning that names the new one (docs/contract-operators.md §9). */
import type { z } from 'zod'
import type { Tree } from './document.ts'
import { type Faults, publicName, toMapping } from './faults.ts'
import { integer } from './value-types.ts'

interface RenamedKey {
  /** `*` is any name. */
  readonly from: string
  readonly to: string
  /** What the earlier key has, if that is in milliseconds and the new key is in seconds. */
  readonly milliseconds?: z.ZodType<number>
}

export const renamedKeys: readonly RenamedKey[] = [
  { from: 'server.grace', to: 'server.shutdownDelay' },
  { from: 'ledger.refresh', to: 'ledger.refreshAfter' },
  { from: 'ledger.reconcile', to: 'ledger.reconcileFor' },
  { from: 'limits.unproven', to: 'limits.unverified' },
  { from: 'limits.shadow', to: 'limits.dryRun' },
  { from: 'limits.replicas', to: 'replicas' },
  { from: 'routing.shadow', to: 'routing.mirror' },
  { from: 'routing.patienceMs', to: 'routing.patience', milliseconds: integer(0, 60_000) },
  { from: 'providers.*.budget', to: 'providers.*.rateLimit' },
  { from: 'providers.*.extraIdNames.*.ask', to: 'providers.*.extraIdNames.*.request' },
  { from: 'providers.*.extraIdNames.*.answer', to: 'providers.*.extraIdNames.*.response' },
]

/** Changes the keys of the tree to their new names, and returns a warning for each. Faults keep the names of the file. */
export function renameKeys(tree: Tree, faults: Faults): readonly string[] {
  const warnings: string[] = []
  for (const { from, to, milliseconds } of renamedKeys) {
    for (const path of pathsIn(tree, from.split('.'))) {
      const newPath = to.split('.').map((part, at) => (part === '*' ? (path[at] ?? part) : part))
      const [oldName, newName] = [path, newPath].map((names) => names.map(publicName).join('.'))
      const value = take(tree, path)
      const converted = milliseconds?.safeParse(value)
      if (at(tree, newPath) !== undefined) faults.add(path, `is now called ${newName}, which is also set: remove ${oldName}`)
      else if (converted?.error) faults.add(path, converted.error.issues[0]?.message ?? '')
      else {
        put(tree, newPath, converted ? String(converted.data / 1000) : value)
        faults.showAs(newPath, path)
        warnings.push(
          `${oldName} is now called ${newName}${converted ? ', in seconds' : ''}: the next version does not know the earlier name`,
        )
      }
    }
  }
  return warnings
}

type Names = readonly string[]

/** The paths in the tree that match the pattern. */
function pathsIn(tree: Tree | undefined, [name, ...others]: Names, before: Names = []): readonly Names[] {
  if (name === undefined) return [before]
  const section = toMapping(tree)
  const names = Object.keys(section).filter((key) => name === '*' || key === name)
  return names.flatMap((key) => pathsIn(section[key], others, [...before, key]))
}

function at(tree: Tree | undefined, [name, ...others]: Names): Tree | undefined {
  if (name === undefined) return tree
  const section = toMapping(tree)
  return Object.hasOwn(section, name) ? at(section[name], others) : undefined
}

function take(tree: Tree, path: Names): Tree {
  const section = toMapping(at(tree, path.slice(0, -1)))
  const name = path.at(-1) ?? ''
  const value = section[name] ?? null
  delete section[name]
  return value
}

function put(tree: Tree, path: Names, value: Tree): void {
  toMapping(at(tree, path.slice(0, -1)))[path.at(-1) ?? ''] = value
}
