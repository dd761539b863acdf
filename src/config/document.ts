/** yaml: keeps the text of every scalar, so that no amount passes through a number. */
import { isScalar, parseDocument, visit } from 'yaml'

export interface ConfigFault {
  /** Like `providers.alpha.url`; empty for the file as a whole. */
  readonly path: string
  /** Never holds a value: it may be a secret. */
  readonly message: string
}

/** Where `${NAME}` and `${file:…}` are looked up. */
export interface Sources {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
}

type Tree = null | string | Tree[] | { [key: string]: Tree }

const nothing = new Set(['', '~', 'null'])
const reference = /\$\{(?:file:([^}]+)|([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?)\}/g

/** The document as a tree of text and null, with every reference filled in. */
export function readDocument(source: string, sources: Sources, faults: ConfigFault[]): Tree {
  const document = parseDocument(source, { schema: 'failsafe', prettyErrors: true })
  for (const { message, linePos } of document.errors) {
    const line = linePos?.[0].line
    faults.push({ path: '', message: `${line === undefined ? '' : `line ${line}: `}${message.split('\n')[0] ?? ''}` })
  }
  if (document.errors.length > 0) return null
  visit(document, {
    Scalar(key, node) {
      if (key !== 'key' && isScalar(node) && node.type === 'PLAIN' && nothing.has(String(node.value ?? ''))) node.value = null
    },
  })
  return fill(document.toJS() as Tree, '', sources, faults)
}

function fill(tree: Tree, path: string, sources: Sources, faults: ConfigFault[]): Tree {
  if (typeof tree === 'string') return fillText(tree, path, sources, faults)
  if (Array.isArray(tree)) return tree.map((item, at) => fill(item, `${path}.${at}`, sources, faults))
  if (tree === null) return null
  const under = (key: string): string => (path === '' ? key : `${path}.${key}`)
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, fill(value, under(key), sources, faults)]))
}

function fillText(text: string, path: string, { environment, readFile }: Sources, faults: ConfigFault[]): string {
  return text.replace(reference, (_, file: string | undefined, name: string | undefined, standard: string | undefined) => {
    if (file !== undefined) return fromFile(file, path, readFile, faults)
    const value = environment[name ?? '']
    if (value !== undefined && (value !== '' || standard === undefined)) return value
    if (standard === undefined) faults.push({ path, message: `the environment variable ${name} is not set` })
    return standard ?? ''
  })
}

function fromFile(file: string, path: string, readFile: Sources['readFile'], faults: ConfigFault[]): string {
  try {
    return readFile(file).trim()
  } catch {
    faults.push({ path, message: `the file ${file} cannot be read` })
    return ''
  }
}
