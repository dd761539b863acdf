/** A change of each field of a transaction, and whether its owner is told of it (docs/contract.md §18.1). */
import type { Transaction } from '../../src/domain/swap.ts'
import { amount } from '../ledger/samples.ts'

interface Change {
  /** Another value than a new swap has. */
  readonly to: unknown
  readonly isEvent: boolean
}

const told = (to: unknown): Change => ({ to, isEvent: true })
const untold = (to: unknown): Change => ({ to, isEvent: false })

/** Of every field. */
export const changedFields: { readonly [Field in keyof Required<Transaction>]: Change } = {
  id: untold('another'),
  createdAt: untold('2020-01-01T00:00:00Z'),
  updatedAt: untold('2030-01-01T00:00:00Z'),
  status: told('confirmation'),
  attention: told('held'),
  statusReason: told('kyc'),
  amountIn: told(amount('0.2')),
  amountOut: told(amount('1.5')),
  rate: told(amount('7')),
  rateType: told('fixed'),
  codeFrom: told('BTCLN'),
  coinFrom: told('LBTC'),
  networkFrom: told('LIGHTNING'),
  codeTo: told('USDTERC20'),
  coinTo: told('USDC'),
  networkTo: told('ETH'),
  coinNameFrom: untold('Bitcoin'),
  coinNameTo: untold('Tether'),
  depositAddress: told('another address'),
  depositExtraId: told('101'),
  withdrawalAddress: told('TWithdraw2'),
  withdrawalExtraId: told('102'),
  refundAddress: told('bc1q-refund2'),
  refundExtraId: told('103'),
  validUntil: told('2030-01-01T00:00:00Z'),
  txHashIn: told('0xin'),
  txHashOut: told('0xout'),
  refundHash: told('0xback'),
  refundAmount: told(amount('0.1')),
  supportUrl: told('https://provider.example/swap'),
  contractFrom: untold('0xfrom'),
  contractTo: untold('0xto'),
  hasDeposit: untold(true),
  hasActions: untold(true),
  capabilities: untold(['refund']),
  ownAssets: untold({ codeFrom: 'btc', codeTo: 'usdt' }),
  reference: untold('intent-1'),
}
