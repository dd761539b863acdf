/** The native lane of a provider: its connection, and what the configuration opens (docs/contract.md §11). */
import { signer } from '../adapters/crypto.ts'
import type { Config, Provider } from '../config/index.ts'
import type { Confidential } from '../domain/confidential.ts'
import { type NativeGuard, type OpenPath, parseOpenPath } from '../domain/native.ts'
import type { Server } from '../domain/observation.ts'
import type { Headers } from '../wire/http.ts'
import type { SendNative } from '../wire/native.ts'
import type { ProviderForm } from '../wire/provider-form.ts'
import type { Way } from './proxied-call.ts'

/** The native lane of a provider. */
export interface NativeLane {
  readonly tag: string
  readonly server: Server
  /** The gateway's own key in the header of the provider's form. */
  readonly credential: Headers
  readonly userAgent: string
  readonly confidential: Confidential
  /** Maximum size of a request body: `providers.<name>.nativeMaxBytes` (default: 1048576 bytes). */
  readonly maxBytes: number
  /** `providers.<name>.timeout` (default: 10 seconds). */
  readonly timeoutMs: number
  /** Between two bytes, in both directions: `providers.<name>.nativeIdle` (default: 30 seconds). */
  readonly idleTimeoutMs: number
  /** Of a whole call: `providers.<name>.nativeTimeout` (default: 300 seconds). */
  readonly totalTimeoutMs: number
  readonly open: readonly OpenPath[]
  /** Whether the provider is `off`. */
  readonly isOff: boolean
  readonly guard: NativeGuard
  readonly send: SendNative
}

/** The parts that survive a reload, if the provider's settings are unchanged. */
export interface NativeConnection {
  readonly guard: NativeGuard
  readonly server: Server
  /** Prepares the provider for native calls. */
  readonly open: () => SendNative
}

/** `url`: the provider's base URL. `guard`: for the calls to it. */
export function connectNative(url: string, server: Server, way: Way, guard: NativeGuard): NativeConnection {
  let upstream: Promise<SendNative> | undefined
  const open = (): SendNative => {
    upstream ??= loadUpstream(url, way)
    const loading = upstream
    return async (request) => {
      const send = await loading
      return send(request)
    }
  }
  return { guard, open, server }
}

/** Loads the proxy only if a native lane is open: it takes 75 ms of a start. */
async function loadUpstream(url: string, way: Way): Promise<SendNative> {
  const { nativeUpstream } = await import('./proxied-call.ts')
  return nativeUpstream(url, way)
}

interface NativeLaneParts {
  readonly form: ProviderForm
  readonly connection: NativeConnection
  readonly confidential: Confidential
  readonly version: string
}

/** Undefined if nothing is open, and always in passthrough mode. */
export function nativeLaneOf({ auth }: Config, provider: Provider, parts: NativeLaneParts): NativeLane | undefined {
  const { native, nativeMaxBytes, nativeIdle, nativeTimeout, timeout, tag, key, secret, state } = provider
  if (auth.mode !== 'managed' || native.length === 0) return undefined
  const { form, connection, confidential, version } = parts
  return {
    tag,
    confidential,
    credential: form.credential.encode({ key, secret }, { method: '', path: '', query: '', body: '' }, signer),
    userAgent: `swapgate/${version}`,
    open: native.flatMap((entry) => parseOpenPath(entry) ?? []),
    isOff: state === 'off',
    maxBytes: nativeMaxBytes,
    timeoutMs: timeout * 1000,
    idleTimeoutMs: nativeIdle * 1000,
    totalTimeoutMs: nativeTimeout * 1000,
    guard: connection.guard,
    server: connection.server,
    send: connection.open(),
  }
}
