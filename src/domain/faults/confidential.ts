/** What no client may read in a provider's words: keys, hosts and names of providers (docs/contract.md §8). */

/** Shorter keys stand in ordinary words by chance. */
const minKeyLength = 8

export interface ConfidentialWords {
  /** Of the configuration. */
  readonly keys: readonly string[]
  /** Without ports. */
  readonly hosts: readonly string[]
  /** Names and tags of providers. */
  readonly names: readonly string[]
}

export class Confidential {
  private readonly keys: RegExp | undefined
  private readonly words: RegExp | undefined

  constructor({ keys, hosts, names }: ConfidentialWords) {
    const long = keys.filter((key) => key.length >= minKeyLength)
    this.keys = anyOf(long.map(RegExp.escape))
    const whole = [...hosts, ...names]
      .filter((word) => word !== '')
      .map((word) => `(?<![a-z0-9])${RegExp.escape(word)}(?![a-z0-9])`)
    this.words = anyOf([...long.map(RegExp.escape), ...whole])
  }

  /** Whether it holds a key, in any case. */
  containsKey(text: string): boolean {
    return this.keys?.test(text) ?? false
  }

  /** Whether it holds a key, or a host or a name as a whole word, in any case. */
  containsWord(text: string): boolean {
    return this.words?.test(text) ?? false
  }
}

/** One pass over a text, however many there are; undefined where there are none. */
function anyOf(sources: readonly string[]): RegExp | undefined {
  return sources.length === 0 ? undefined : new RegExp(sources.join('|'), 'i')
}
