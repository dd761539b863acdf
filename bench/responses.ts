/** What the providers of the benchmarks return (docs/service.md §2). */
import { transaction } from './transaction.ts'

export const transactionA = {
  id: transaction.id,
  status: transaction.status,
  coinFrom: 'BTC',
  coinTo: 'USDTTRC20',
  amount: transaction.amount_in,
  amountTo: transaction.amount_out,
  depositAddress: transaction.deposit_address,
  withdrawalAddress: transaction.withdrawal_address,
  refundAddress: transaction.refund_address,
  rate: transaction.rate,
  rateType: transaction.rate_type,
  createdAt: transaction.created_at,
  updatedAt: transaction.created_at,
}

const names = {
  BTC: 'Bitcoin',
  ETH: 'Ethereum',
  LTC: 'Litecoin',
  DOGE: 'Dogecoin',
  XRP: 'XRP',
  SOL: 'Solana',
  TRX: 'TRON',
  ADA: 'Cardano',
}
const icon = (code: string): string => `https://icons.example/${code.toLowerCase()}.svg`

export const currenciesB = Object.entries(names).map(([code, name]) => ({ code, name, icon: icon(code), notes: '' }))
export const currenciesA = Object.entries(names).map(([code, name]) => ({
  code,
  name,
  icon: icon(code),
  network: code,
  depositMin: 0.001,
  depositMax: 1000,
}))
