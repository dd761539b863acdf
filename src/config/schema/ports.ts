/** Where the process listens. */
import { integer, list, mapping, name, origin, port, seconds, token } from '../value-types.ts'
import { optional, section, setting } from './setting.ts'

export const server = section(
  {
    host: setting(name, '127.0.0.1', 'Address to listen on; `0.0.0.0` is every IPv4 address of the machine'),
    port: setting(port, 8080, 'Port to listen on; 0 takes a free port and prints it'),
    trustProxy: setting(
      integer(0, 32),
      0,
      'Number of trusted proxies in front that append to `X-Forwarded-For`; 0 ignores the header',
      'hops',
    ),
    maxBodyBytes: setting(integer(1, 1_048_576), 16_384, 'Maximum size of a request body; a larger one gets 413', 'bytes'),
    connections: setting(
      integer(1, 1_000_000),
      10_000,
      'Maximum number of open connections. For one more the oldest request that has not arrived whole is ended; if there is none, the new one is closed at once. Keep it below half of the limit of open files of the system',
      'connections',
    ),
    connectionsPerAddress: optional(
      integer(1, 1_000_000),
      'Maximum number of open connections per client address (IPv6: per /64); further ones are closed. Not set: a quarter of `connections`, and only while more than half of these are in use. With `trustProxy` the connections are those of proxies and are not counted by address: then it is the maximum number of requests in progress per client address, and one too many is 429',
    ),
    socketTimeout: setting(
      seconds('above 0'),
      75,
      'Idle timeout of a connection, and maximum time for a client to read a response. If twice the longest `timeout` of a provider is longer, that applies; so does twice the `nativeIdle` of a provider with `native` paths',
      'seconds',
    ),
    drain: setting(seconds(), 10, 'At shutdown: maximum wait for requests in flight', 'seconds'),
    grace: setting(
      seconds(),
      2,
      'At shutdown: how long the gateway accepts new connections after `/readyz` changes to 503, so that a load balancer can react',
      'seconds',
    ),
    cors: setting(
      list(origin),
      [],
      'Origins whose pages may read responses, like `https://app.example`, `https://*.example.com` (every host below it), or that of an app: `capacitor://localhost`. Empty: no CORS headers are sent',
    ),
  },
  'The public port.',
)

export const admin = section(
  {
    host: setting(name, '127.0.0.1', 'Address to listen on'),
    port: setting(port, 9090, 'Port to listen on; 0 takes a free port and prints it'),
    tokens: setting(
      mapping(token),
      {},
      'Tokens of the operator’s API and page on this port: one for each name, 32 characters or more, best read from a file. None: there is no API and no page',
    ),
    hosts: setting(
      list(name),
      [],
      'Names that the port accepts in `Host`, besides `localhost` and IP addresses. This prevents DNS rebinding by web pages. `/livez`, `/readyz` and `/metrics` accept any name',
    ),
  },
  'The port for operators: `/livez`, `/readyz` and `/metrics`. Never expose it to clients.',
)
