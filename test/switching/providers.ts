/** The providers of the story, with the journals of what they did. */
import { join } from 'node:path'
import { readJournal } from '../checker/provider/journal.ts'
import { startProvider } from '../checker/provider.ts'
import { type Dialect, startExchange } from '../providers/stand-ins/exchange.ts'

export type Step = 'wait' | 'confirmation' | 'exchanging' | 'success'

export interface StoryProvider extends AsyncDisposable {
  /** In the configuration. */
  readonly settings: { readonly form: string; readonly url: string; readonly key: string }
  /** `id` is the provider's own. */
  readonly advance: (id: string, step: Step) => unknown
  /** How many creates took effect. */
  readonly applied: () => number
  /** How many quotes and creates it got since then. */
  readonly newSince: (time: number) => number
}

export type StartProvider = (name: 'alpha' | 'beta') => Promise<StoryProvider>

/** Alpha of Form A and beta of Form B. */
export function ownForms(directory: string): StartProvider {
  return async (name) => {
    const [key, journal] = [`own-key-of-${name}`, join(directory, name)]
    const form = name === 'alpha' ? 'A' : 'B'
    const provider = await startProvider({ form, name, keys: [key], journal })
    return {
      settings: { form, url: provider.url, key },
      advance: (id, status) => provider.change(id, { status }),
      applied: () => readJournal(journal).filter(({ what }) => what === 'applied').length,
      newSince: (time) =>
        readJournal(journal).filter(
          (entry) => entry.what === 'received' && entry.at > time && ['rate', 'create'].includes(entry.operation),
        ).length,
      [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
    }
  }
}

/** Stand-ins of real providers; `words` are their statuses. */
export function realProviders(
  dialects: Readonly<Record<'alpha' | 'beta', { readonly dialect: Dialect; readonly words: Readonly<Record<Step, string>> }>>,
): StartProvider {
  return async (name) => {
    const { dialect, words } = dialects[name]
    const exchange = await startExchange(dialect)
    return {
      settings: { form: dialect.name, url: exchange.url, key: exchange.key },
      advance: (id, step) => {
        exchange.find(id).status = words[step]
      },
      applied: () => exchange.swaps.length,
      newSince: (time) =>
        exchange.calls.filter(({ at, operation }) => at > time && ['quote', 'limits', 'create'].includes(operation)).length,
      [Symbol.asyncDispose]: () => exchange.end(),
    }
  }
}
