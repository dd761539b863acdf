/** Finds keys, hosts and names of providers in texts: no client may get them (docs/contract-operators.md §8). */

/** Shorter keys occur in ordinary words by chance. */
const minKeyLength = 8
/** In bytes that the gateway does not read, such as those of a file, shorter ones do too. */
const minKeyLengthInBytes = 16
/** Of a character in HTML: `&#x00002f;`; in UTF-16 each of these has two bytes. */
const maxEscapeLength = 2 * 10

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
  /** Keys as bytes may have them, in lower case. */
  private longKeys: readonly string[] = []
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
    this.longKeys = [...new Set(longer.flatMap((key) => [key, ...inBase64(key)]).map((key) => key.toLowerCase()))]
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

  /**
   * Whether bytes that stream by, as Latin-1, contain a key of 16 characters or more: in UTF-8, UTF-16 or base64, also with escapes of JSON,
   * of a URL or of HTML.
   */
  containsLongKey(text: string): boolean {
    if (this.longKeys.length === 0) return false
    const single = text.includes('\0') ? text.replaceAll('\0', '') : text // UTF-16 of ASCII has a zero at each character
    return [...new Set([text, single, unescaped(single)])].some((spelling) => {
      const folded = spelling.toLowerCase()
      return this.longKeys.some((key) => folded.includes(key))
    })
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

const escapes = /\\u00([0-9a-f]{2})|%([0-9a-f]{2})|&#x0{0,6}([0-9a-f]{2});|&#0{0,6}(\d{2,3});|&([a-z]{3,6});|\\([^u])/gi
/** Entities of HTML. */
const named: Readonly<Record<string, string>> = {
  ...{ amp: '&', sol: '/', plus: '+', equals: '=', lowbar: '_', hyphen: '-', dash: '-', period: '.', colon: ':', num: '#' },
}

/** The text without the escapes of JSON, of a URL and of HTML. */
function unescaped(text: string): string {
  return text.replace(
    escapes,
    (written, json?: string, url?: string, hex?: string, decimal?: string, name?: string, bare?: string) => {
      if (name !== undefined) return named[name.toLowerCase()] ?? written
      if (bare !== undefined) return bare
      return String.fromCharCode(decimal === undefined ? Number.parseInt(json ?? url ?? hex ?? '', 16) : Number(decimal))
    },
  )
}

/** The key in base64, in both alphabets: at each of three places in what is encoded, without the ends that its neighbours change. */
function inBase64(key: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(key)])
    const first = Math.ceil((before * 4) / 3)
    const last = Math.floor((bytes.length * 4) / 3)
    return [bytes.toString('base64').slice(first, last), bytes.toString('base64url').slice(first, last)]
  })
}
