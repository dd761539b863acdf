/** A configuration with a secret wherever one may be. */

type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The sections of a file with the word in each of its secrets: letters and digits. Nothing answers at its addresses. */
export function secretSettings(word: string): Sections {
  const long = word.padEnd(44, '0')
  const proxy = `http://user:${word}@127.0.0.1:1`
  return {
    auth: { mode: 'managed' },
    admin: { tokens: { alice: long, ben: { token: `${long}-ben`, roles: ['operate'] } } },
    redis: { url: `redis://user:${word}@127.0.0.1:1` },
    ledger: { url: `postgres://user:${word}@127.0.0.1:1/swapgate` },
    egress: { proxy },
    webhooks: { key: [long, `${long}00`], proxy },
    providers: {
      alpha: {
        ...{ form: 'A', url: 'https://alpha.example/api/v2', key: `${word}-key`, listKey: `${word}-listKey` },
        ...{ hook: `${long}-hook`, proxy: `http://user:${word}-proxy@127.0.0.1:1` },
      },
      gamma: {
        ...{ form: 'fixedfloat', url: 'https://gamma.example', key: `${word}-gamma`, secret: `${word}-secret` },
        ...{ settings: { refcode: `${word}-refcode` }, accountSettings: { acme: { refcode: `${word}-acme` } } },
      },
    },
    routing: { providers: ['alpha', 'gamma'] },
  }
}
