/** The built-in provider with its real store, port and clock. */
import { setTimeout as pause } from 'node:timers/promises'
import { identityOf } from '../adapters/identity.ts'
import { makePrivate } from '../adapters/ledger/private-file.ts'
import { memoryLimiter } from '../adapters/limiter.ts'
import { listenOnLoopback } from '../adapters/sandbox-server.ts'
import { answerRefused } from '../adapters/server.ts'
import { sqliteStore } from '../adapters/sqlite.ts'
import type { Config } from '../config.ts'
import { forms } from '../forms/index.ts'
import { type RunningSandbox, startSandbox } from '../sandbox/sandbox.ts'

export function openSandbox({ sandbox, assets }: Config): Promise<RunningSandbox> {
  return startSandbox({
    settings: sandbox,
    assets,
    forms,
    limiter: memoryLimiter(),
    digest: identityOf,
    openStore(file) {
      makePrivate(file)
      return sqliteStore(file)
    },
    listen: (handle, port) => listenOnLoopback(handle, port, answerRefused),
    clock: Date.now,
    // A rehearsed latency does not keep the process from ending.
    pause: (milliseconds) => pause(milliseconds, undefined, { ref: false }),
  })
}
