const codes = { 'BTC/BTC': 'BTC', 'USDT/TRX': 'USDTTRC20', 'USDT/ETH': 'USDTERC20', 'ETH/ETH': 'ETH' }

/** A transaction of Form B in Form A, as a short program would do it: digits of amounts and unknown assets are not looked after. */
export function inFormA(transaction) {
  const { coin_from, network_from, coin_to, network_to } = transaction
  return {
    id: transaction.id,
    status: transaction.status,
    coinFrom: codes[`${coin_from}/${network_from}`],
    coinTo: codes[`${coin_to}/${network_to}`],
    amount: transaction.amount_in,
    amountTo: transaction.amount_out,
    rate: transaction.rate,
    rateType: transaction.rate_type,
    depositAddress: transaction.deposit_address,
    withdrawalAddress: transaction.withdrawal_address,
    refundAddress: transaction.refund_address,
    createdAt: transaction.created_at,
    updatedAt: transaction.created_at,
  }
}
