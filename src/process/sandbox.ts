/** The built-in provider with its real store, port and clock. */
import { setTimeout as pause } from 'node:timers/promises'
import { hashKey } from '../adapters/crypto.ts'
import { respondToInvalid } from '../adapters/http/server.ts'
import { memoryLimiter } from '../adapters/memory.ts'
import { listenOnLoopback, sandboxStore } from '../adapters/sandbox.ts'
import type { Config } from '../config/index.ts'
import { serviceForms } from '../forms/index.ts'
import { makePrivate } from '../ledger/sqlite/dialect.ts'
import { type RunningSandbox, startSandbox } from '../sandbox/sandbox.ts'
import type { Store } from '../sandbox/store.ts'

export function openSandbox({ sandbox, assets }: Config): Promise<RunningSandbox> {
  return startSandbox({
    settings: sandbox,
    assets,
    forms: serviceForms,
    limiter: memoryLimiter(),
    digest: hashKey,
    openStore,
    listen: (handle, port) => listenOnLoopback(handle, port, respondToInvalid),
    clock: Date.now,
    // An injected latency does not keep the process from ending.
    pause: (milliseconds) => pause(milliseconds, undefined, { ref: false }),
  })
}

function openStore(file: string): Store {
  try {
    makePrivate(file)
    return sandboxStore(file)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${reason}; correct sandbox.data, or give this user write access to its directory`, { cause })
  }
}
