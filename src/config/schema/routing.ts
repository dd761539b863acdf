import { choice, flag, integer, keys, list, mapping, name, share, text } from '../value-types.ts'
import { optional, required, setting } from './setting.ts'

export const routing = required(
  keys({
    strategy: setting(
      choice(['priority', 'weighted', 'best']),
      'priority',
      'Which provider gets a quote or a create. `priority`: the first available of `providers`. `weighted`: by `weights`, always the same one for a client. `best`: the one that quotes the highest amount received',
    ),
    providers: required(list(name).min(1, 'must name a provider'), 'Names of providers, in order; exactly one in passthrough mode'),
    untagged: setting(
      text,
      '',
      'The provider of transactions whose ids have no tag, from before the gateway. Empty: such ids get 404',
    ),
    weights: optional(
      mapping(integer(0, 1000)),
      'With `weighted`: the weight of each provider of `providers`, like `{ alpha: 90, beta: 10 }`; a provider with 0 gets no quotes and no creates',
    ),
    pick: setting(
      list(name),
      [],
      'Tags of providers that a request with an issued key may choose with `X-Swap-Provider`, even with weight 0. No effect in passthrough mode',
    ),
    patienceMs: setting(
      integer(0, 60_000),
      800,
      'With `best`: how long to wait for slower providers after the request began, if the quote of at least one competes',
      'milliseconds',
    ),
    roundAmounts: setting(
      choice(['refuse', 'down']),
      'refuse',
      'A create whose amount has more decimals than its asset in the asset table: `refuse` is 400, which names the nearest amounts; `down` sends the amount below, and `X-Swap-Derived` names it',
    ),
    maxDeviation: setting(
      share,
      0.1,
      'By which share a create may promise less than the newest quote of its provider for the same request in the last minute: more is counted, and under `best` it counts against the next quotes of that provider. Also: by which share the quote of another provider may be less than the last one of the client, for it to take a create that its provider turns away. 0: any',
    ),
    refuseDeviation: setting(flag, false, 'Whether such a create is a mismatch: the client gets 502, and a person must look'),
    shadow: optional(
      keys({ provider: name, sample: share }),
      'A provider to compare: `{ provider, sample }` repeats that share of the quotes there, without effect on clients. It need not be in `providers`',
    ),
  }),
  'Which provider gets a request.',
)
