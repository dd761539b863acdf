// Takes long: Chromium.
/** docs/contract-operators.md §15: orders that a restored ledger lacked, by the operator's API and page. */
import { expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../src/ledger/index.ts'
import { visit } from '../api-docs-page/browser.ts'
import { dialogOf, overflow, show, signIn, violations } from '../operator/browser.ts'
import { serveApi, token } from '../operator/served.ts'
import { swap } from '../support/swaps.ts'
import { restoreRig } from './rig.ts'

const createdAt = new Date(Date.now() - 3_600_000).toISOString()

/** Two orders of alpha wait, and there are two accounts. */
async function rebuilt() {
  const rig = await restoreRig()
  const gateway = await rig.start()
  for (const account of ['acme', 'other']) await gateway.issueKey(account)
  await rig.swapgate('ledger', 'mark-restored')
  rig.alpha.holdings.swaps = ['lost-1', 'lost-2'].map((id) => swap({ id, createdAt, updatedAt: createdAt }))
  expect((await rig.swapgate('ledger', 'rebuild', 'alpha', 'beta')).exitCode).toBe(0)
  const stores = await openLedger(rig.place.ledgerUrl)
  const served = await serveApi(stores, gateway.config)
  onTestFinished(async () => {
    await served[Symbol.asyncDispose]()
    await stores.close()
  })
  const call = async (method: string, path: string, body?: unknown) => {
    const { status, text } = await served.call(method, path, body)
    return { status, json: JSON.parse(text) as never }
  }
  return { ...rig, gateway, stores, url: served.url, call }
}

test('the API lists, assigns, dismisses and takes back, as the commands do, and the audit log has each', async () => {
  const { call, stores } = await rebuilt()
  const decide = (id: string, body: object) => call('POST', `/found/${encodeURIComponent(id)}`, body)
  const waiting = await call('GET', '/found')
  expect(waiting.json).toMatchObject([
    { id: 'alpha~lost-1', provider: 'alpha', account: null, hasDetails: true },
    { id: 'alpha~lost-2' },
  ])
  expect(await decide('alpha~lost-1', { assign: true, key: null, note: 'n' })).toMatchObject({ status: 409 })
  expect(await decide('alpha~lost-1', { assign: true, account: 'other', key: null, note: 'n' })).toMatchObject({
    status: 409,
    json: { message: expect.stringContaining('not confirmed by anybody') },
  })
  expect(await decide('alpha~lost-1', { assign: true, account: 'nobody', unconfirmed: true, key: null, note: 'n' })).toMatchObject({
    status: 409,
    json: { message: 'There is no account nobody.' },
  })
  expect(await decide('alpha~lost-1', { assign: true, account: 'other', unconfirmed: true, key: 'order-1', note: 'n' })).toEqual({
    status: 200,
    json: {
      id: 'alpha~lost-1',
      decision: 'assigned',
      account: 'other',
      notes: [
        expect.stringMatching(/^Not confirmed by anybody: .*amountIn/),
        'Its create is the one with the key order-1.',
        'No other create waited for it.',
      ],
    },
  })
  expect((await call('GET', '/found?assigned=true')).json).toMatchObject([{ id: 'alpha~lost-1', account: 'other' }])
  expect(await decide('alpha~lost-1', { unassign: true, note: 'wrong' })).toMatchObject({
    json: { decision: 'unassigned', notes: [expect.stringContaining('order-1 of other is 409'), expect.any(String)] },
  })
  const free = { free: 'order-1', account: 'other', note: 'never used' }
  expect(await call('POST', '/found-keys', free)).toMatchObject({ status: 200, json: { id: 'order-1', decision: 'freed' } })
  expect(await call('POST', '/found-keys', free)).toMatchObject({ status: 404 })
  expect(await decide('alpha~lost-1', { unassign: true, note: 'wrong' })).toMatchObject({ status: 404 })
  expect(
    await decide('alpha~lost-1', { assign: true, account: 'acme', unconfirmed: true, key: null, note: 'right' }),
  ).toMatchObject({ status: 200 })
  expect(await decide('alpha~lost-2', { dismiss: true, note: 'not ours' })).toEqual({
    status: 200,
    json: { id: 'alpha~lost-2', decision: 'dismissed', account: null, notes: ['No other create waited for it.'] },
  })
  expect((await call('GET', '/found?dismissed=true')).json).toMatchObject([{ id: 'alpha~lost-2', dismissedAt: expect.any(String) }])
  expect(await decide('alpha~lost-2', { undismiss: true, note: 'ours' })).toMatchObject({ json: { decision: 'undismissed' } })
  expect(await decide('alpha~lost-2', { dismiss: true, note: 'not ours' })).toMatchObject({ status: 200 })
  expect(await decide('alpha~lost-2', { assign: true, account: 'acme', unconfirmed: true, key: null, note: 'n' })).toMatchObject({
    status: 404,
  })
  for (const body of [{}, { assign: true }, { dismiss: true, note: '' }, { assign: true, dismiss: true, note: 'n' }])
    expect(await decide('alpha~lost-1', body)).toMatchObject({ status: 400 })
  expect((await call('GET', '/found')).json).toEqual([])
  const audit = await stores.audit.read({})
  expect(
    audit.filter(({ action }) => action.startsWith('order.')).map(({ actor, action, subject }) => [actor, action, subject]),
  ).toEqual([
    ['alice', 'order.dismiss', 'alpha~lost-2'],
    ['alice', 'order.undismiss', 'alpha~lost-2'],
    ['alice', 'order.dismiss', 'alpha~lost-2'],
    ['alice', 'order.assign', 'alpha~lost-1'],
    ['alice', 'order.free_key', 'other'],
    ['alice', 'order.unassign', 'alpha~lost-1'],
    ['alice', 'order.assign', 'alpha~lost-1'],
    ['alice', 'order.read', '2'],
  ])
})

test.each([1280, 390])('the page shows them, assigns one and takes it back, at %i pixels', { timeout: 60_000 }, async (width) => {
  const { url, stores } = await rebuilt()
  await using visited = await visit(`${url}/`)
  const { page } = visited
  await page.setViewportSize({ width, height: 800 })
  await signIn(page, token)
  await page.getByRole('link', { name: '2 orders' }).waitFor()
  await show(page, 'Needs a person')
  const orders = page.getByRole('region', { name: 'Orders that the ledger lacked' })
  await orders.getByText('2 wait for a person, 0 assigned').waitFor()
  expect(await overflow(page)).toBe(0)
  expect(await violations(page)).toEqual([])
  const open = async (id: string): Promise<void> => {
    const details = orders.getByRole('button', { name: `Details of ${id}` })
    if (width < 1000 && (await details.getAttribute('aria-expanded')) === 'false') await details.click()
  }
  await open('alpha~lost-1')
  await orders.getByRole('button', { name: 'Assign alpha~lost-1' }).locator('visible=true').first().click()
  await dialogOf(page).getByLabel('Account').fill('other')
  await dialogOf(page).getByLabel('Idempotency-Key of its create').selectOption('none')
  await dialogOf(page).getByLabel('The client cannot be asked').check()
  await dialogOf(page).getByLabel('Note').fill('ticket 7')
  await dialogOf(page).getByRole('button', { name: 'Assign', exact: true }).click()
  await orders.getByText('1 wait for a person, 1 assigned').waitFor()
  expect(await violations(page)).toEqual([])
  await open('alpha~lost-1')
  await orders.getByRole('button', { name: 'Take back alpha~lost-1' }).locator('visible=true').first().click()
  await dialogOf(page).getByLabel('Note').fill('the wrong account')
  await dialogOf(page).getByRole('button', { name: 'Take it back' }).click()
  await orders.getByText('2 wait for a person, 0 assigned').waitFor()
  expect(await stores.restores.undecided()).toHaveLength(2)
})
