/** The tests for the mutants of routing, ledger, limits and validators: the fast ones, in one process each. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'src/core/**/*.test.ts',
      'src/{domain,edges,wire}/*.test.ts',
      'src/adapters/memory.test.ts',
      'test/{limits/{budgets,account-limits},creation/{creation,reconciliation,replay},access/credentials,routing/{failover,offers},transactions/{freshness,list,ownership}}.test.ts',
      'test/{transactions/{created-here-only,enrich-from-ledger,late-responses},creation/{listed-before,passthrough-reconciliation},access/{passthrough-guessed-keys,verified-keys}}.test.ts',
      'test/forms/{create,caching,limits,shared-reads,transactions}.test.ts',
      'test/observability/{metrics,accuracy}.test.ts',
      'test/faults/{money,upstream-failover}.test.ts',
      'test/tracing/reconciliation.test.ts',
    ],
    exclude: ['src/core/access/authentication.test.ts'],
    testTimeout: 15_000,
    hookTimeout: 30_000,
  },
})
