import type { Config } from '../config/index.ts'
import { Confidential, type ConfidentialWords } from '../domain/confidential.ts'

/** Keys, hosts and names that must not reach a client in a provider's text. */
export function confidentialOf(config: Config): Confidential {
  return new Confidential(confidentialWordsOf(config))
}

export function confidentialWordsOf({ providers }: Pick<Config, 'providers'>): ConfidentialWords {
  return {
    keys: providers.flatMap(({ key, listKey }) => [key, listKey].filter((word) => word !== '')),
    hosts: providers.map(({ url }) => new URL(url).hostname),
    names: providers.flatMap(({ name, tag }) => [name, tag]),
  }
}
