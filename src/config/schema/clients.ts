/** Settings of keys and limits. */
import { choice, flag, integer } from '../value-types.ts'
import { section, setting } from './setting.ts'

export const auth = section(
  {
    mode: setting(
      choice(['passthrough', 'managed']),
      'passthrough',
      'Which keys clients send. `passthrough`: keys of the provider. `managed`: keys that you issue with `swapgate keys`',
    ),
  },
  'The keys of clients.',
)

export const limits = section(
  {
    quotes: setting(integer(1), 60, '`GET /currencies` and `GET /rate` together, per client address', 'requests per window'),
    create: setting(integer(1), 30, '`POST /transactions`, per key', 'requests per window'),
    read: setting(integer(1), 120, '`GET /transactions` and `GET /transactions/{id}` together, per key', 'requests per window'),
    unproven: setting(
      integer(1),
      120,
      'Requests with unverified keys, from all addresses together. Above it, addresses with a rejected key in the last minute get 429; above five times it, every unverified key gets 429',
      'requests per 60 seconds',
    ),
    window: setting(integer(1, 86_400), 60, 'Length of the window; it begins with the first request', 'seconds'),
    replicas: setting(
      integer(1),
      1,
      'Number of processes that share the limits and budgets. While Redis is unavailable, each process uses its fraction of them',
      'processes',
    ),
    shadow: setting(flag, false, 'Counts requests and sends the headers, but rejects no request: to try limits out'),
  },
  'Limits on clients. A request above a limit gets 429.',
)
