/** What the process stores, and for how long. */
import { flag, ledgerUrl, redisPrefix, redisUrl, seconds } from '../value-types.ts'
import { section, setting } from './setting.ts'

export const redis = section(
  {
    url: setting(
      redisUrl,
      '',
      '`redis://user:password@host:port/database`, `redis+sentinel://host:port,host:port/name` (the sentinels and the name of the group; `?sentinel=user:password` if they require a password) or `redis+cluster://host:port,host:port` (some nodes); `rediss…` uses TLS. Empty: each process keeps its own limits in memory',
    ),
    prefix: setting(
      redisPrefix,
      'swapgate',
      'The beginning of every key in Redis, before a colon: gateways of several environments on one Redis need one each, the replicas of one the same',
    ),
  },
  'Limits and budgets that replicas share. Redis 6 or later.',
)

export const ledger = section(
  {
    url: setting(
      ledgerUrl,
      'sqlite:data/swapgate.db',
      '`sqlite:<file>`, relative to the working directory, or `postgres://user:password@host/database`, which replicas share',
    ),
    mustExist: setting(
      flag,
      false,
      'Whether a start fails if the ledger does not exist yet: against a volume that is not mounted, or another working directory. First start once without it',
    ),
    refresh: setting(seconds(), 5, 'How long a transaction read from a provider counts as fresh', 'seconds'),
    reconcile: setting(seconds(), 86_400, 'How long the gateway searches for a create with an unknown outcome', 'seconds'),
  },
  'The store of transactions, their owners and their last known state.',
)

export const cache = section(
  {
    currencies: setting(seconds(), 600, "How long a provider's list of currencies is served before it is read again", 'seconds'),
    rate: setting(
      seconds(),
      2,
      'How long a rate is served again to identical requests; 0 calls the provider for each request',
      'seconds',
    ),
    staleFor: setting(
      seconds(),
      86_400,
      'How much longer an old list of currencies is served while the provider fails. Also the maximum age of the list for a create to Form A (`currencies`, if that is longer)',
      'seconds',
    ),
  },
  'The cache of responses.',
)
