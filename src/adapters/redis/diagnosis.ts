/** What is wrong with Redis, or with the way to it: the cause, and what to set. Without a credential. */
import { type UnreachableCause, unreachableCauseOf } from '../../domain/failure-cause.ts'
import type { RedisAddress } from '../../domain/redis-url.ts'
import type { StoreTrouble } from '../../domain/store-trouble.ts'

/** By the first words of a reply, which are the same in every version. */
const byReply: readonly (readonly [RegExp, StoreTrouble['cause'], string])[] = [
  [
    /^WRONGPASS|invalid password|^ERR AUTH failed/i,
    'credentials',
    'it rejects the user or the password; correct them in redis.url',
  ],
  [/^NOAUTH/, 'credentials', 'it wants a password; write it in redis.url, as redis://:password@host or redis://user:password@host'],
  [
    /^NOPERM/,
    'permissions',
    'the user of redis.url lacks permissions; give it the keys of redis.prefix and scripts (+@all ~swapgate:*)',
  ],
  [/^DENIED/, 'credentials', 'it is in protected mode; set a password there, and write it in redis.url'],
  [/^ERR max number of clients/i, 'connections', 'it has no free connection; raise maxclients there'],
  [/^ERR DB index|invalid DB/i, 'no_database', 'it has no database of that number; correct the end of redis.url'],
  [/^LOADING/, 'starting', 'it still loads its data; wait'],
  [/^READONLY/, 'read_only', 'it is a replica; write the master, or sentinels, in redis.url'],
  [/^MISCONF/, 'disk', 'it cannot save its data and takes no writes; see its log'],
  [/^OOM/, 'full', 'its memory is full; raise maxmemory there'],
]

const byCause: Readonly<Partial<Record<UnreachableCause, string>>> = {
  dns_not_found: 'its name does not exist; correct the host in redis.url',
  dns_timeout: 'no name server answers about its name; correct the host in redis.url, or see the name server',
  dns_failed: 'the look-up of its name fails; correct the host in redis.url, or see the name server',
  refused: 'nothing listens at its address and port; start it, or correct redis.url',
  no_route: 'there is no route to its address; correct redis.url or the network',
  timed_out: 'its address does not answer; check redis.url and the network',
  tls_expired: "its certificate is past its end, or before its start; renew it there, or correct this machine's clock",
  tls_untrusted: 'its certificate is of an authority that is not known here; name the file of the authority in NODE_EXTRA_CA_CERTS',
  tls_wrong_name: 'its certificate is of another name; write the name of the certificate as the host in redis.url',
  not_tls: 'it does not speak TLS there; write redis in place of rediss in redis.url, or the port of TLS',
  tls_failed: 'there was no agreement about TLS; it may want a certificate of its clients (tls-auth-clients no)',
}

/** Of an `error` of the client, or of a script that failed. */
export function redisTroubleOf(reason: unknown, { isEncrypted }: Pick<RedisAddress, 'isEncrypted'>): StoreTrouble {
  const { message: text = '', lastNodeError, code } = reason as { message?: string; lastNodeError?: unknown; code?: string }
  if (lastNodeError !== undefined && lastNodeError !== null) return redisTroubleOf(lastNodeError, { isEncrypted })
  const [, known, message] = byReply.find(([pattern]) => pattern.test(text)) ?? []
  if (known !== undefined && message !== undefined) return { cause: known, message }
  const cause = unreachableCauseOf(reason)
  return { cause, message: lineOf(cause, isEncrypted) ?? `it cannot be used (${code ?? 'no code'})` }
}

function lineOf(cause: UnreachableCause, isEncrypted: boolean): string | undefined {
  if (cause === 'reset')
    return isEncrypted
      ? 'it closes the connection; it may not speak TLS there: write redis in place of rediss in redis.url'
      : 'it closes the connection; it may speak TLS alone there: write rediss in place of redis in redis.url'
  // A Redis without TLS waits for the rest of the greeting.
  if (cause === 'timed_out' && isEncrypted)
    return 'it does not answer; check the network, and whether it speaks TLS there: else write redis in place of rediss in redis.url'
  return byCause[cause]
}
