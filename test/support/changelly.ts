/** A provider of Changelly v2 (JSON-RPC, RSA signature), written from its documentation: one path, signed bodies, refusals in a 200. */
import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { type Received, type StandIn, standIn } from './stand-in.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** As an operator has it: PKCS #8 in hexadecimal digits. */
export const changellyKey = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('hex')
const keyId = createHash('sha256')
  .update(publicKey.export({ type: 'pkcs1', format: 'der' }))
  .digest('base64')

export interface Call {
  readonly jsonrpc: string
  readonly id: string
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

/** The response to a call, as `result` or as `error`. */
export type CallResult = { readonly result: unknown } | { readonly error: object }

const currency = (ticker: string, blockchain: string): object => ({
  ...{ name: ticker.toUpperCase(), ticker, fullName: ticker, enabled: true, enabledFrom: true, enabledTo: true },
  ...{ fixRateEnabled: true, blockchain, protocol: ticker.toUpperCase(), contractAddress: null, extraIdName: null, image: '' },
})

export const changellyCurrencies: readonly object[] = [
  currency('btc', 'bitcoin'),
  currency('eth', 'ethereum'),
  currency('usdt20', 'ethereum'),
  currency('usdtrx', 'tron'),
  { ...currency('doge', 'dogecoin'), enabled: false },
]

export interface Changelly extends StandIn {
  readonly calls: Call[]
  /** Replaces the usual result. */
  resultOf: (call: Call) => CallResult | undefined
}

export async function startChangelly(): Promise<Changelly> {
  const calls: Call[] = []
  const provider: { resultOf: Changelly['resultOf'] } = { resultOf: () => undefined }
  const server = await standIn((received) => {
    const call = JSON.parse(received.body) as Call
    calls.push(call)
    const reply = isSigned(received) ? (provider.resultOf(call) ?? usual(call)) : invalidRequest
    return { json: { jsonrpc: '2.0', id: call.id, ...reply } }
  })
  return Object.assign(provider, { ...server, calls })
}

const invalidRequest: CallResult = { error: { code: -32600, message: 'Invalid Request' } }

/** Whether the body is signed with the operator's key. */
export function isSigned({ headers, body }: Pick<Received, 'headers' | 'body'>): boolean {
  const signature = Buffer.from(headers['x-api-signature'] ?? '', 'base64')
  return headers['x-api-key'] === keyId && verify('RSA-SHA256', Buffer.from(body), createPublicKey(privateKey), signature)
}

function usual({ method, params }: Call): CallResult {
  if (method === 'getCurrenciesFull') return { result: changellyCurrencies }
  if (method === 'getExchangeAmount') return { result: [quote(params)] }
  if (method === 'getFixRateForAmount') return { result: [{ id: 'rate-id-1', ...quote(params), expiredAt: 1_785_335_671 }] }
  if (method === 'getTransactions') return { result: [] }
  return { error: { code: -32601, message: 'Method not found' } }
}

function quote({ from, to, amountFrom }: Call['params']): object {
  return {
    ...{ from, to, networkFee: '0.0005', amountFrom, amountTo: '18.2345', rate: '18.2345', visibleAmount: '18.2345', fee: '0.1' },
    ...{ min: '0.002', max: '20', minFrom: '0.002', minTo: '0.03', maxFrom: '20', maxTo: '300' },
  }
}
