/** docs/contract.md §18.2: the data of an event are what a get returned then, but for what its owner can do about the swap now. */
import { afterEach, expect, test } from 'vitest'
import { type ActionRig, startActions } from '../actions/rig.ts'
import { openEvents } from '../support/event-source.ts'
import { formNames } from '../support/pair.ts'

let rig: ActionRig
afterEach(() => rig[Symbol.asyncDispose]())

test.each(formNames)('form %s: with its attention, without its capabilities', async (form) => {
  rig = await startActions('changenow')
  const id = await rig.begin()
  Object.assign(rig.swap(), { status: 'verifying', hasActions: true })
  const { capabilities, ...held } = await rig.read(form, id)
  expect([capabilities, held]).toMatchObject([['refund', 'continue'], { attention: 'held' }])
  const path = `${rig.gateway.url}/${form.toLowerCase()}/api/v2`
  const headers = form === 'A' ? { authorization: `Bearer ${rig.key}` } : { 'x-api-key': rig.key }
  const ofSwap = await openEvents(`${path}/transactions/${id}/events`, headers)
  const line = `\ndata: ${JSON.stringify(held)}\n`
  await ofSwap.received(1)
  expect(ofSwap.text()).toContain(line)
  const ofAccount = await openEvents(`${path}/events`, { ...headers, 'last-event-id': '1' })
  await ofAccount.received(1)
  expect(ofAccount.text()).toContain(line)
})
