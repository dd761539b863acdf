/** The admin port with the operator's API over the given stores, without a gateway. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { adminApp } from '../../src/adapters/http/admin.ts'
import { AssetTable } from '../../src/domain/asset.ts'
import type { OperatorToken } from '../../src/domain/operator-role.ts'
import { addOperator } from '../../src/operator/router.ts'
import type { OperatorParts } from '../../src/operator/stores.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'

export const token = 'operator-token-of-alice-0123456789'
export const readersToken = 'operator-token-of-carol-0123456789'
export const operatorsToken = 'operator-token-of-oscar-0123456789'

const initialTokens: Readonly<Record<string, OperatorToken>> = {
  alice: token,
  carol: { token: readersToken, roles: ['read'] },
  oscar: { token: operatorsToken, roles: ['read', 'operate'] },
}

const noActions: ReturnType<OperatorParts['actions']> = {
  capabilitiesOf: async () => [],
  ask: async () => ({ outcome: 'done' }),
  carryOut: async () => ({ isRepeated: false }),
}

interface ServedApi extends AsyncDisposable {
  /** Of the page. */
  readonly url: string
  /** In force. */
  readonly tokens: Record<string, OperatorToken>
  /** `path`: below `/api`. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<ReceivedResponse>
}

/** `file`: what the routes read of the configuration. */
export async function serveApi(
  stores: object,
  file: object,
  follow: OperatorParts['follow'] = async () => {},
  redis: OperatorParts['redis'] = () => undefined,
): Promise<ServedApi> {
  const tokens = { ...initialTokens }
  const config = () => ({ assets: new AssetTable([]), ...file, admin: { tokens } }) as never
  const admin = adminApp({
    readiness: () => 'ready',
    createRefusal: () => undefined,
    hosts: [],
    printMetrics: async () => ({ contentType: 'text/plain', text: '' }),
    printError: (code, message) => JSON.stringify({ code, message }),
  })
  const parts = {
    // A store that the test lacks has no function.
    stores: new Proxy(stores, { get: (given, name) => Reflect.get(given, name) ?? {} }) as OperatorParts['stores'],
    tokens: () => tokens,
    isSandboxAlone: () => false,
    publicUrl: () => undefined,
    file: config,
    inForce: config,
    started: {} as never,
    redis,
    actions: () => noActions,
    hasPlainIds: () => true,
    follow,
  }
  addOperator(admin, parts, () => {}, new AbortController().signal)
  const server = createServer(admin.app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    tokens,
    call: (method, path, body) =>
      sendRequest(url, {
        method,
        path: `/api${path}`,
        headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
