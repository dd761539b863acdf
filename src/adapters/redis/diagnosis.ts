/** What is wrong with Redis, or with the way to it: the cause, and what to set. Without a credential. */
import { type UnreachableCause, unreachableCauseOf } from '../../domain/failure-cause.ts'
import type { RedisAddress } from '../../domain/redis-url.ts'
import type { StoreTrouble } from '../../domain/store-trouble.ts'

type Known = readonly [RegExp, StoreTrouble['cause'], mend: string | ((command: string) => string)]

/** By the words of a reply, which are the same in every version. The command is the one that Redis or the script names. */
const byReply: readonly Known[] = [
  [
    /\bWRONGPASS\b|invalid password|\bERR AUTH failed/i,
    'credentials',
    'it rejects the user or the password; correct them in redis.url',
  ],
  [
    /\bNOAUTH\b/,
    'credentials',
    'it wants a password; write it in redis.url, as redis://:password@host or redis://user:password@host',
  ],
  [
    /access (?:a|one of the) keys?\b/,
    'permissions',
    'the user of redis.url may not use the keys of redis.prefix; give it ~<redis.prefix>:* there, as in the ACL of docs/limits.md',
  ],
  [
    /\bNOPERM\b|ACL failure|executing the script can't run/,
    'permissions',
    (command) => `the user of redis.url may not run ${command}; allow it there, as in the ACL of docs/limits.md`,
  ],
  [
    /unknown (?:redis )?command/i,
    'no_command',
    (command) => `it has no ${command}, which swapgate needs; take its rename-command out of the configuration there`,
  ],
  [
    /\bNOREPLICAS\b/,
    'replicas',
    'it has fewer replicas than min-replicas-to-write and takes no writes; start them, or lower it there',
  ],
  [/\bDENIED\b/, 'credentials', 'it is in protected mode; set a password there, and write it in redis.url'],
  [/max number of clients/i, 'connections', 'it has no free connection; raise maxclients there'],
  [/DB index|invalid DB/i, 'no_database', 'it has no database of that number; correct the end of redis.url'],
  [/\bLOADING\b/, 'starting', 'it still loads its data; wait'],
  [/\bBUSY\b/, 'busy', 'a script of another program holds it; end it there with SCRIPT KILL'],
  [/\b(?:READONLY|MASTERDOWN)\b/, 'read_only', 'it is a replica; write the master, or sentinels, in redis.url'],
  [/\bMISCONF\b/, 'disk', 'it cannot save its data and takes no writes; see its log'],
  [/\bOOM\b/, 'full', 'its memory is full; raise maxmemory there'],
  [/^MOVED\b/, 'cluster', 'it is a node of a cluster; write redis+cluster in place of redis in redis.url'],
  [/cluster support disabled/i, 'cluster', 'it is no cluster; write redis in place of redis+cluster in redis.url'],
  [/\bCLUSTERDOWN\b/, 'cluster', 'a part of the cluster is down; see CLUSTER INFO there'],
  [/\bWRONGTYPE\b|not an integer/i, 'other', 'another program uses keys that begin with redis.prefix; choose another prefix'],
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
export function redisTroubleOf(reason: unknown, address: RedisAddress, prefix: string): StoreTrouble {
  const { message: text = '', lastNodeError, code } = reason as { message?: string; lastNodeError?: unknown; code?: string }
  if (lastNodeError !== undefined && lastNodeError !== null) return redisTroubleOf(lastNodeError, address, prefix)
  const words = quoted(text, address, prefix)
  const [, known, mend] = byReply.find(([pattern]) => pattern.test(text)) ?? []
  if (known !== undefined && mend !== undefined) {
    const line = typeof mend === 'string' ? mend : mend(commandOf(text))
    return { cause: known, message: line + words }
  }
  const cause = unreachableCauseOf(reason)
  return { cause, message: lineOf(cause, address.isEncrypted) ?? `it cannot be used${words || ` (${code ?? 'no code'})`}` }
}

/** As Redis names it, or else the script, at the end. */
function commandOf(text: string): string {
  const [, named] = /(?:run the|unknown command) ['`]([a-z|]{1,30})['`]/i.exec(text) ?? ofScript.exec(text) ?? []
  return named?.toUpperCase() ?? 'a command of docs/limits.md'
}

/** What the script adds. */
const ofScript = / \(([A-Z]{1,30})\)$/
const [maxRead, maxWords] = [1_000, 160]

/** What a stranger says, in brackets: on one line, and without the arguments, the keys and the passwords that it may repeat. */
function quoted(text: string, { credentials, sentinelCredentials }: RedisAddress, prefix: string): string {
  let words = text
    .slice(0, maxRead)
    .replace(/,? with args beginning with:.*$/s, '')
    .replace(ofScript, '')
    .replace(/ script: [0-9a-f]{40}, on @user_script:\d+\.?$/, '')
  for (const secret of [credentials.password, sentinelCredentials.password]) if (secret) words = words.replaceAll(secret, '…')
  words = words
    .split(/\s+/)
    .map((word) => (word.includes(`${prefix}:`) ? '…' : word))
    .join(' ')
    .replaceAll(/\p{C}/gu, '')
    .trim()
  if (words === '') return ''
  return ` (it says: ${words.length > maxWords ? `${words.slice(0, maxWords)}…` : words})`
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
