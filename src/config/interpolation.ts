/** Resolves `${NAME}`, `${NAME:-default}` and `${file:path}` in the values of a document (docs/contract.md §9). */
import type { Tree } from './document.ts'
import type { Faults } from './faults.ts'
import { publicName } from './public-name.ts'

/** The sources of references. `readFile` throws if the file cannot be read. */
export interface Sources {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
}

const reference = /\$\{([^}]*)(\}?)/g
/** A name that a message may show: a secret between braces does not match. */
const variableName = /^[A-Z][A-Z0-9_]{0,63}$/
const variable = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

/** The tree with every reference in its values resolved. A resolved value is not searched for references. */
export function interpolate(tree: Tree, sources: Sources, faults: Faults): Tree {
  if (tree === null) return null
  if (typeof tree === 'string') return interpolateText(tree, sources, (message) => faults.add([], message))
  if (Array.isArray(tree)) return tree.map((item, at) => interpolate(item, sources, faults.under(at)))
  // A section of this name would vanish without a word.
  if (Object.hasOwn(tree, '__proto__')) faults.add(['__proto__'], '__proto__ is a name that nothing may have')
  const interpolated = Object.entries(tree).map(([key, value]) => [key, interpolate(value, sources, faults.under(key))] as const)
  return Object.fromEntries(interpolated)
}

type Fail = (message: string) => void

function interpolateText(text: string, sources: Sources, fail: Fail): string {
  return text.replace(reference, (_, inside: string, end: string) => {
    if (end !== '' && inside.startsWith('file:')) return fromFile(inside.slice('file:'.length).trim(), sources, fail)
    const [, name, defaultValue] = (end !== '' && variable.exec(inside)) || []
    if (name !== undefined) return fromEnvironment(name, defaultValue, sources, fail)
    fail(`a reference must be \${NAME}, \${NAME:-default} or \${file:path}`)
    return ''
  })
}

/** As in a shell, the default also applies if the variable is empty. */
function fromEnvironment(name: string, defaultValue: string | undefined, { environment }: Sources, fail: Fail): string {
  const value = environment[name]
  if (defaultValue !== undefined) return value || defaultValue
  if (value === undefined) fail(`the environment variable ${variableName.test(name) ? name : publicName(name)} is not set`)
  return value ?? ''
}

function fromFile(file: string, { readFile }: Sources, fail: Fail): string {
  try {
    return readFile(file).trim()
  } catch {
    fail(`the file ${file} cannot be read`)
    return ''
  }
}
