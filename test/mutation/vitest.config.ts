/** The tests that judge the mutants of routing, ledger, limits and validators: the fast ones, in one process each. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'src/{core,domain,edges,wire}/*.test.ts',
      'src/adapters/limiter.test.ts',
      'test/managed/{budgets,creation,credentials,failover,freshness,limits,list,offers,ownership,reconciliation,replay}.test.ts',
      'test/passthrough/*.test.ts',
      'test/pairs/{create,keeping,limits,sharing,transactions}.test.ts',
      'test/observability/{metrics,truth}.test.ts',
      'test/rows/{money,upstream-failover}.test.ts',
      'test/tracing/reconciliation.test.ts',
    ],
    exclude: ['src/core/authentication.test.ts'],
    testTimeout: 15_000,
    hookTimeout: 30_000,
  },
})
