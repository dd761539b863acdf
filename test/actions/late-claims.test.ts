/** docs/contract.md §3.11: claims of actions that the ledger takes too late, or does not confirm. */
import { afterEach, expect, test } from 'vitest'
import type { SwapActionStore } from '../../src/core/ports/swap-actions.ts'
import { UncertainChange } from '../../src/domain/fault.ts'
import { type ActionRig, otherAddress, refundAddress, startActions } from './rig.ts'

let rig: ActionRig
afterEach(() => rig[Symbol.asyncDispose]())

type Claim = SwapActionStore['claimAction']

/** A swap that waits for a refund address; `claim` stands before the ledger's. */
async function swapWith(claim: (own: Claim) => Claim): Promise<string> {
  rig = await startActions('sideshift', { actionsLayer: (own) => ({ ...own, claimAction: claim(own.claimAction) }) })
  const id = await rig.begin()
  Object.assign(rig.swap(), { status: 'refund' })
  return id
}

const setAddress = (id: string, address: string) => rig.act('A', id, 'refund-address', { address })
const known = () => rig.gateway.swapActions.readActions('alpha', rig.swap().id)

test('a forced action that the ledger takes too late leaves the one of unknown outcome: no other address is sent', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  let late: Promise<boolean> | undefined
  let isSlow = false
  const id = await swapWith((own) => async (...args) => {
    if (!isSlow) return own(...args)
    late = answered.then(() => own(...args))
    return late
  })
  rig.exchange.losesNextAction = 'before'
  expect((await setAddress(id, refundAddress)).status).toBe(504)
  isSlow = true
  const by = { actor: 'alice', isForced: true, note: 'ticket 7', owner: (await known())[0]?.owner ?? '' }
  const forced = rig.gateway.operatorActions().carryOut('setRefundAddress', { id, refundAddress }, by)
  await expect(forced).rejects.toMatchObject({ reason: 'ledger_unavailable' })
  answer()
  expect(await late).toBe(true)
  isSlow = false
  expect((await setAddress(id, otherAddress)).status).toBe(409)
  expect(await known()).toHaveLength(1)
  expect(rig.sent('refundAddress')).toHaveLength(1)
})

test('a claim that the ledger has not confirmed, so that nothing is sent, does not hold the swap', async () => {
  let isCut = true
  const id = await swapWith((own) => async (...args) => {
    const isClaimed = await own(...args)
    if (isCut) throw new UncertainChange(new Error('cut'))
    return isClaimed
  })
  expect((await setAddress(id, refundAddress)).status).toBe(503)
  expect(rig.sent('refundAddress')).toEqual([])
  isCut = false
  await expect.poll(known).toEqual([])
  expect((await setAddress(id, otherAddress)).status).toBe(200)
})
