/** Tests of `npm test` that wait for a time on a real clock, since time is what they are about: how many of each file, and why. At most 30. */
export const realClockTests: Readonly<Record<string, readonly [tests: number, why: string]>> = {
  'src/adapters/redis/script-deadline.test.ts': [1, 'a process that stands still'],
  'src/adapters/tracing.test.ts': [4, 'timers of sockets, which no fake clock has'],
  'test/chaos/kills.test.ts': [1, 'kills at any time of a create'],
  'test/webhooks/kills.test.ts': [1, 'kills at any time of a delivery'],
  'test/deploy/kills.test.ts': [1, 'kills at any time of a create, behind a balancer'],
  'test/process/standby.test.ts': [1, 'thirty creates a second'],
  'test/providers/firm-quotes.test.ts': [1, 'the time of the database, which no fake clock has'],
  'test/native/resilience.test.ts': [1, 'a response that goes on and on'],
  'test/process/reload.test.ts': [1, 'a time-out of sockets, before and after a reload'],
  'test/process/rolling.test.ts': [1, 'creates in flight while another process ends'],
  'test/process/stop.test.ts': [3, 'a second signal'],
  'test/process/workers.test.ts': [2, 'creates in flight while another process ends'],
  'test/routing/rates.test.ts': [1, 'a ledger that is slower than a quote waits, and faster than a read does'],
}

/** Modules of such tests, and those that look again and again until what is waited for has come. */
export const waitingModules: readonly string[] = [
  'test/chaos/kills.ts',
  'test/checker/connection.ts',
  'test/checker/gateway-process.ts',
  'test/checker/provider/server.ts',
  'test/deploy/balancers.ts',
  'test/process/balancer.ts',
  'test/redis/replica.ts',
  'test/support/installation.ts',
  'test/support/postgres-server.ts',
  'test/support/postgres.ts',
  'test/support/raw.ts',
  'test/support/redis-cluster.ts',
  'test/support/redis.ts',
  'test/support/stand-in.ts',
]
