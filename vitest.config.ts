import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/remains.ts'],
    testTimeout: 15_000,
    hookTimeout: 30_000,
  },
})
