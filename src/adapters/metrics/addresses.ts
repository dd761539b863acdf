/** Metric of creates that were rejected because an address does not match its network. */
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import type { Handlers } from './handler.ts'

export function addressMetrics(exposition: Exposition): Handlers<'addressRefused'> {
  const refusals = new Counter({
    name: 'swapgate_address_refusals_total',
    help: 'Withdrawal and refund addresses that match no address format of their network, by network of the asset table.',
    labels: ['network'],
  })
  exposition.add(refusals)
  return { addressRefused: ({ network }) => refusals.add([network]) }
}
