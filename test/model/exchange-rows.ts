/** What a provider of Form B returns, and how. */
import type { ServerResponse } from 'node:http'
import { digits } from '../support/json.ts'
import type { Terms } from './trace.ts'

export const currencies = ['BTC', 'USDT'].map((code) => ({ code, name: code, icon: 'https://icons.test/icon.svg', notes: '' }))

export function factsOf(id: number, isFinished = false): object {
  const status = isFinished ? 'success' : 'wait'
  return { id: `tx-${id}`, status, coin_from: 'BTC', coin_to: 'USDT', amount_in: digits('0.5') }
}

export function termsOf(id: number, { memo }: Terms): object {
  return {
    deposit_address: `deposit-${id}`,
    withdrawal_address: 'withdrawal-1',
    ...(memo !== '' && { withdrawal_extra_id: memo }),
  }
}

export function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
