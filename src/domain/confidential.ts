/** Finds keys, hosts and names of providers in texts: no client may get them (docs/contract.md §8). */

/** Shorter keys occur in ordinary words by chance. */
const minKeyLength = 8
/** In bytes that the gateway does not read, such as those of a file, shorter ones do too. */
const minKeyLengthInBytes = 16
/** Of a character in JSON: `\\u002f`. */
const maxEscapeLength = 6

export interface ConfidentialWords {
  /** Keys in the configuration. */
  readonly keys: readonly string[]
  /** Without ports. */
  readonly hosts: readonly string[]
  /** Names and tags of providers. */
  readonly names: readonly string[]
}

/** Searches texts for confidential words, in any case. */
export class Confidential {
  private keys: RegExp | undefined
  private words: RegExp | undefined
  private longKeys: RegExp | undefined
  /** Of the keys that `containsLongKey` finds, as they may be written; 0 if there are none. */
  longestKey = 0

  constructor(words: ConfidentialWords) {
    this.replace(words)
  }

  /** From now on these words are confidential, and no others. */
  replace({ keys, hosts, names }: ConfidentialWords): void {
    const long = keys.filter((key) => key.length >= minKeyLength)
    this.keys = anyOf(long.map(RegExp.escape))
    const longer = keys.filter((key) => key.length >= minKeyLengthInBytes)
    this.longKeys = anyOf(longer.map(asWritten))
    this.longestKey = maxEscapeLength * Math.max(0, ...longer.map(({ length }) => length))
    const whole = [...hosts, ...names]
      .filter((word) => word !== '')
      .map((word) => `(?<![a-z0-9])${RegExp.escape(word)}(?![a-z0-9])`)
    this.words = anyOf([...long.map(RegExp.escape), ...whole])
  }

  /** Whether the text contains a key. */
  containsKey(text: string): boolean {
    return this.keys?.test(text) ?? false
  }

  /** Whether bytes that stream by, as Latin-1, contain a key of 16 characters or more, also with escapes of JSON or of a URL. */
  containsLongKey(text: string): boolean {
    return this.longKeys?.test(text) ?? false
  }

  /** Whether the text contains a key, or a host or name as a whole word. */
  containsWord(text: string): boolean {
    return this.words?.test(text) ?? false
  }
}

/** One pattern for all sources, so that a text is scanned once; undefined without sources. */
function anyOf(sources: readonly string[]): RegExp | undefined {
  return sources.length === 0 ? undefined : new RegExp(sources.join('|'), 'i')
}

/** A pattern of the key with each character as it is, or as JSON or a URL may write it. */
function asWritten(key: string): string {
  return Array.from(key, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(2, '0')
    return `(?:\\\\?\\x${code}|\\\\u00${code}|%${code})`
  }).join('')
}
