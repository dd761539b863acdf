/** A Form B transaction as a provider returns it (docs/service.md §2.4). */
export const transaction = {
  id: 'ex9f8e7d6c5b4a39',
  status: 'exchanging',
  coin_from: 'BTC',
  coin_to: 'USDT',
  network_from: 'BTC',
  network_to: 'TRX',
  amount_in: 0.05,
  amount_out: 3214.558201,
  rate: 64291.16402,
  rate_type: 'float',
  deposit_address: 'bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh',
  withdrawal_address: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
  refund_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  tx_hash_in: 'f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16',
  tx_hash_out: null,
  created_at: '2026-11-20T08:00:00.000Z',
}

export const transactionText = JSON.stringify(transaction)
