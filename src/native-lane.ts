/** The native lane of a provider: its connection, and what the configuration opens (docs/contract.md §11). */
import { nativeUpstream } from './adapters/http/native/index.ts'
import type { Config, Provider } from './config/index.ts'
import { nativeGuard } from './core/native/native-guard.ts'
import type { Breaker } from './core/resilience/breaker/breaker.ts'
import { type BudgetLimitOptions, budgetSpending } from './core/resilience/budget/budget-limit.ts'
import type { Confidential } from './domain/faults/confidential.ts'
import { parseOpenPath } from './domain/native/open-path.ts'
import type { Server } from './domain/telemetry/observation.ts'
import type { NativeLane } from './edges/native/serve-native.ts'
import type { Form } from './wire/form.ts'

/** The parts that survive a reload, if the provider's settings are unchanged. */
export type NativeConnection = Pick<NativeLane, 'guard' | 'send' | 'server'>

export interface NativeConnectionOptions extends BudgetLimitOptions {
  /** The provider's base URL. */
  readonly url: string
  readonly server: Server
  readonly breaker: Breaker
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
}

export function connectNative(options: NativeConnectionOptions): NativeConnection {
  const guard = nativeGuard({ ...options, breaker: options.breaker.native, spendBudget: budgetSpending(options) })
  return { guard, send: nativeUpstream(options.url), server: options.server }
}

interface NativeLaneParts {
  readonly form: Form
  readonly connection: NativeConnection
  readonly confidential: Confidential
  readonly version: string
}

/** Undefined if nothing is open, and always in passthrough mode. */
export function nativeLaneOf({ auth }: Config, provider: Provider, parts: NativeLaneParts): NativeLane | undefined {
  const { native, nativeMaxBytes, nativeIdle, timeout, tag, key, state } = provider
  if (auth.mode !== 'managed' || native.length === 0) return undefined
  const { form, connection, confidential, version } = parts
  return {
    tag,
    confidential,
    credential: form.credential.encode(key),
    userAgent: `swapgate/${version}`,
    open: native.flatMap((entry) => parseOpenPath(entry) ?? []),
    isOff: state === 'off',
    maxBytes: nativeMaxBytes,
    timeoutMs: timeout * 1000,
    idleTimeoutMs: nativeIdle * 1000,
    ...connection,
  }
}
