/** The import rules: the folders of `src/` and what each may import (the table in `docs/architecture.md`). */
import { providerForms } from '../../src/forms/index.ts'
import { type Import, read, type Sources } from './read.ts'

/** Tests beside the source, and what they share. */
export const forTests = /(?:\.test|\/fixture)\.ts$/
/** The first line that matches a file has what it may import. A folder imports only folders above it. */
const rules: readonly (readonly [file: RegExp, may: RegExp])[] = [
  [/^domain\/address\//, /^domain\/|^node:(?:crypto|zlib)$|^npm:@(?:scure\/base|noble\/hashes\/.+)$/], // encodings and checksums: pure functions all the same
  [/^domain\/(?:current-span|processor-(?:quota|time))\.ts$/, /^domain\/|^node:async_hooks$/],
  [/^domain\/key\.ts$/, /^domain\/|^node:zlib$/],
  [/^domain\/network-address\.ts$/, /^node:net$/],
  [/^domain\/(?:rendezvous-hash|same-secret)\.ts$/, /^domain\/|^node:crypto$/],
  [/^domain\//, /^domain\//],
  [/^wire\//, /^(?:wire|domain)\/|^npm:zod$/],
  [/^forms\/index\.ts$/, /^(?:forms|wire|domain)\//],
  [/^forms\//, /^(?:wire|domain)\//],
  [/^edges\//, /^(?:edges|wire|domain)\//],
  [/^reference\//, /^(?:reference|edges|wire|domain)\/|^node:fs$/],
  [/^core\/same-swap\.ts$/, /^domain\/|^core\/(?:ports|assets)\//],
  [/^core\/provider-scope\.ts$/, /^domain\/|^core\/(?:(?:ports|assets)\/)?[^/]+\.ts$/],
  ...coreRules({
    ports: [''],
    '': [],
    access: [''],
    assets: [''],
    quotes: ['', 'assets'],
    transactions: ['', 'assets'],
    events: ['', 'transactions'],
    creation: ['', 'assets', 'quotes', 'transactions'],
    actions: ['', 'assets', 'transactions'],
    resilience: ['', 'access'],
    routing: ['', 'access', 'assets', 'quotes', 'transactions', 'resilience'],
    operations: ['', 'access', 'actions', 'assets', 'transactions', 'creation', 'routing'],
  }),
  [/^ledger\//, /^(?:ledger|wire|domain|core)\/|^node:|^npm:/],
  [/^adapters\/sandbox\.ts$/, /^(?:wire|domain|core)\/|^sandbox\/(?:store|server)\.ts$|^node:|^npm:/],
  [/^adapters\//, /^(?:wire|domain|core)\/|^node:|^npm:/],
  [/^sandbox\//, /^(?:sandbox|core|edges|wire|domain)\/|^npm:zod$/],
  [/^config\/checks\.ts$/, /^(?:config|wire|domain)\/|^adapters\/crypto\.ts$|^node:|^npm:zod$/],
  [/^config\//, /^(?:config|wire|domain)\/|^node:|^npm:(?:zod|yaml|re2js)$/],
  [/^gateway(?:\/|\.ts$)/, /^(?:gateway|config|core|edges|forms|wire|domain)\/|^provider\/|^native\/(?:lane|serve)\.ts$/],
  [/^native\/(?:call|serve)\.ts$/, /^(?:native|edges|wire|domain)\//],
  [/^native\/guard\.ts$/, /^core\/(?:(?:ports|resilience)\/)?[^/]+\.ts$|^domain\//],
  [/^native\/proxied-call\.ts$/, /^(?:native|adapters\/http|wire|domain)\/|^node:|^npm:http-proxy-middleware$/],
  [/^cli\//, /^(?!operator\/)/],
  [/^(?:embedded\.ts$|operator\/)/, /^(?!cli\/)/], // their users and routes are express's: its types, its routers
  [/^(?:index\.ts$|native\/lane\.ts$|provider\/|process\/)/, /^(?!cli\/|npm:express$)/],
]

/** A line for each import that the rules forbid, and for each thing that only one place may do. */
export function breaches(sources: Sources): readonly string[] {
  return Object.entries(sources).flatMap(([file, source]) => {
    const { imports, code } = read(file, source)
    const may = rules.find(([pattern]) => pattern.test(file))?.[1] ?? /^$/
    const forbidden = imports.filter(({ of }) => forTests.test(of) || !(may.test(of) || isOwn(file, of)))
    const values = imports.filter(({ isType }) => !isType).map(({ of }) => of)
    return [
      ...forbidden.map(({ of }) => `${file} imports ${of}`),
      ...(/^(?:adapters|ledger)\//.test(file) ? adapterBreaches(file, values) : []),
      ...(!mayUseEnvironment.has(file) && readsEnvironment(code, imports) ? [`${file} reads the environment`] : []),
      ...(!file.startsWith('forms/') && branchOnForm.test(code) ? [`${file} branches on a form's name`] : []),
      ...(!mayNameProvider.test(file) && !forTests.test(file) && realProvider.test(code) ? [`${file} names a provider`] : []),
    ]
  })
}

/** The folders of `core/`, each with those whose files it may import beside the ports; '' is `core/` itself. */
function coreRules(folders: Readonly<Record<string, readonly string[]>>): readonly (readonly [RegExp, RegExp])[] {
  const filesOf = (folder: string): string => `core/${folder === '' ? '' : `${folder}/`}[^/]+\\.ts`
  return Object.entries(folders).map(([folder, others]) => [
    new RegExp(`^${filesOf(folder)}$`),
    new RegExp(`^domain/|^(?:${['ports', folder, ...others].map(filesOf).join('|')})$`),
  ])
}

/** A folder of `adapters/` is one adapter; a file beside the folders has nothing of its own. */
function isOwn(file: string, target: string): boolean {
  const own = /^adapters\/[^/]+\//.exec(file)?.[0]
  return own !== undefined && target.startsWith(own)
}

/** What stores ask the core: whether two swaps are one, and which mismatches suspend an asset, are no rules of theirs; and the bounds of ports. */
const askedByStores: ReadonlySet<string> = new Set([
  'core/same-swap.ts',
  'core/visible-state.ts',
  'core/mismatch-streaks.ts',
  'core/ports/restores.ts',
  'core/ports/watches.ts',
  'core/ports/ledger.ts',
  'core/ports/ledger-admin.ts',
  'core/ports/webhooks.ts',
  'core/operations/settings.ts',
])

/** An adapter imports only types of the core (ports), and its rules for stores; and each file is for one library. */
function adapterBreaches(file: string, values: readonly string[]): readonly string[] {
  const libraries = new Set(
    values.map((target) => /^npm:(@opentelemetry|(?:@[^/]+\/)?[^/]+)/.exec(target)?.[1]).filter((name) => name !== undefined),
  )
  const core = values.filter((target) => target.startsWith('core/') && !askedByStores.has(target))
  const several = libraries.size > 1 ? [`${file} has ${libraries.size} libraries`] : []
  return [...several, ...core.map((target) => `${file} imports ${target}`)]
}

/** The program sets what must be set before a module is loaded. */
const mayUseEnvironment = new Set(['config/index.ts', 'cli/swapgate.js'])

function readsEnvironment(code: string, imports: readonly Import[]): boolean {
  const isNamed = /\bprocess\b[^\w\n]*env\b|\benv\b[^=\n]*=\s*(?:globalThis\.)?process\b/.test(code)
  return isNamed || imports.some(({ of }) => of === 'node:process')
}

/** A real provider's name, in code or in text. */
/** The configuration has a section for the form of clients that is named like a provider, and what speaks of its keys has that name. */
const mayNameProvider = /^(?:forms\/|config\/(?:schema|index)\.ts$|process\/(?:config-diff|warnings)\.ts$)/

const realProvider = new RegExp(
  `\\b(?:${providerForms
    .map(({ name }) => name)
    .filter((name) => name.length > 1)
    .join('|')})\\b`,
  'i',
)
const formName = `(['"\`])(?:${providerForms.map(({ name }) => name).join('|')})`
const branchOnForm = new RegExp(`(?:[=!]==?|\\bcase)\\s*${formName}\\1|${formName}\\2\\s*[=!]==?`)
