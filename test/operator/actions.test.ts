// Takes long: Chromium, on the admin port of a real gateway.
/** docs/contract-operators.md §15: the buttons of the operator's page that do something about a swap, on a wide screen and on a phone. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refundAddress } from '../actions/rig.ts'
import { type ActingProvider, type BegunSwap, operatorToken, startTwoGateways, type TwoGateways } from '../actions/two-gateways.ts'
import { type Visit, visit } from '../api-docs-page/browser.ts'
import type { Action } from '../providers/stand-ins/exchange.ts'
import { dialogOf, overflow, show, signIn, violations } from './browser.ts'

let world: TwoGateways
beforeAll(async () => {
  world = await startTwoGateways()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

const held = { status: 'verifying', hasActions: true }

async function begin(at: ActingProvider, state: object): Promise<BegunSwap> {
  const swap = await world.begin(at)
  Object.assign(swap.swap, state)
  return swap
}

/** The bodies that the provider got. */
function sentAt({ at, swap: { id } }: BegunSwap, action: Action): readonly unknown[] {
  const got = world.exchanges[at].received(action)
  return got.filter(({ path, body }) => path.includes(id) || body.includes(id)).map(({ body }) => JSON.parse(body))
}

const buttonsOf = (page: Page): Locator =>
  page.getByRole('region', { name: 'Swap', exact: true }).getByRole('button', { name: / for / })

/** Chromium also notes refused requests of the API; those are wanted here. */
const own = ({ complaints }: Visit): readonly string[] => complaints.filter((text) => !text.startsWith('Failed to load resource'))

describe.each([
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
])('on a screen of $width pixels', (viewport) => {
  /** The view of this swap, as an operator finds it. */
  async function visitSwap(swap: BegunSwap): Promise<Visit> {
    await world.read(swap)
    const visited = await visit(`${world.gateways[0].adminUrl}/`, { viewport })
    const { page } = visited
    await signIn(page, operatorToken)
    await page.getByLabel('Find swaps').fill(swap.id)
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Timeline' }).waitFor()
    return visited
  }

  async function expectWellShown(page: Page): Promise<void> {
    expect(await violations(page)).toEqual([])
    expect(await overflow(page)).toBe(0)
  }

  /** The rows of the audit log about what was done about it, open. */
  async function auditedFor(page: Page, { id }: BegunSwap): Promise<string> {
    await show(page, 'Audit log')
    const table = page.getByRole('table', { name: 'Audit log' })
    const rows = table.locator('tr.line').filter({ hasText: id }).filter({ hasText: 'alice' })
    await rows.first().waitFor()
    for (const row of await rows.all()) await row.getByRole('button', { name: /^Details of/ }).click()
    const details = table.locator('.details').filter({ hasText: id })
    expect(await details.getByRole('link', { name: id }).count()).toBe(await rows.count())
    return (await details.allInnerTexts()).join('\n')
  }

  it('a refund says what it does before it is sent, shows why it is refused, and is in the audit log', async () => {
    const swap = await begin('changenow', held)
    await using visited = await visitSwap(swap)
    const { page } = visited
    expect(await buttonsOf(page).allInnerTexts()).toEqual(['Refund…', 'Continue…'])
    await expectWellShown(page)
    const dialog = dialogOf(page)
    await buttonsOf(page).first().click()
    expect(await dialog.innerText()).toMatch(/to the address below\. Take it only from the client[\s\S]*sends it once/)
    await expectWellShown(page)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(sentAt(swap, 'refund')).toEqual([])

    await buttonsOf(page).first().click()
    await dialog.getByLabel('Note').fill('ticket 7')
    await dialog.getByLabel('Address').fill('no-address-of-ethereum')
    await dialog.getByRole('button', { name: 'Ask for the refund' }).click()
    await expect.poll(() => dialog.getByRole('alert').innerText()).toMatch(/address/i)
    await expectWellShown(page)
    expect(sentAt(swap, 'refund')).toEqual([])

    await dialog.getByLabel('Address').fill(refundAddress)
    await dialog.getByRole('button', { name: 'Ask for the refund' }).click()
    await expect.poll(() => page.getByRole('status').innerText()).toContain('its client sees refunded')
    expect(sentAt(swap, 'refund')).toEqual([{ id: swap.swap.id, address: refundAddress }])
    await expect.poll(() => buttonsOf(page).count()).toBe(0)
    expect((await world.read(swap)).json).toMatchObject({ status: 'refunded', refundAddress })

    const audited = await auditedFor(page, swap)
    expect(audited).toMatch(/transaction\.refund[\s\S]*0x5290…9EE7[\s\S]*ticket 7/)
    expect(audited).not.toContain(refundAddress)
    await expectWellShown(page)
    expect(own(visited)).toEqual([])
  })

  it('its provider is asked by a button, and the view has the answer or why there is none', async () => {
    const swap = await begin('changenow', { status: 'waiting' })
    await using visited = await visitSwap(swap)
    const { page } = visited
    const view = page.getByRole('region', { name: 'Swap', exact: true })
    Object.assign(swap.swap, { status: 'exchanging' })
    const ask = view.getByRole('button', { name: 'Ask the provider now' })
    await ask.click()
    await expect.poll(() => page.getByRole('status').innerText()).toBe('The provider has answered.')
    await expect.poll(() => view.innerText()).toMatch(/Client sees\s+exchanging/)
    await expectWellShown(page)

    await world.proxies.changenow.down()
    await ask.click()
    await expect.poll(() => page.getByRole('status').innerText()).toMatch(/^The provider has not answered: unreachable/)
    await expect
      .poll(async () => {
        await world.read(swap)
        await page.reload()
        await signIn(page, operatorToken)
        await page.getByRole('list', { name: 'Timeline' }).waitFor()
        return await view.innerText()
      })
      .toMatch(/changenow does not report it: unreachable[\s\S]*Its owner gets exchanging, with X-Swap-Stale/)
    await expectWellShown(page)
    await world.proxies.changenow.up()
    expect(own(visited)).toEqual([])
  })

  it('a look at a swap is one record of the audit log', async () => {
    const swap = await begin('changenow', held)
    await using visited = await visitSwap(swap)
    const { page } = visited
    await show(page, 'Audit log')
    await page.getByLabel('Also who read what').check()
    const rows = page.getByRole('table', { name: 'Audit log' }).locator('tr.line').filter({ hasText: 'transaction.read' })
    await expect.poll(() => rows.filter({ hasText: swap.id }).count()).toBe(1)
    expect(own(visited)).toEqual([])
  })

  it('a swap is continued by keyboard alone', async () => {
    const swap = await begin('changenow', held)
    await using visited = await visitSwap(swap)
    const { page } = visited
    await buttonsOf(page).last().focus()
    await page.keyboard.press('Enter')
    expect(await dialogOf(page).innerText()).toContain('It cannot be sent back after that.')
    expect(await dialogOf(page).getByLabel('Address').count()).toBe(0)
    await page.keyboard.press('Tab')
    await page.keyboard.type('ticket 8')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByRole('status').innerText()).toContain('its client sees exchanging')
    expect(sentAt(swap, 'continue')).toHaveLength(1)
    expect(await auditedFor(page, swap)).toMatch(/transaction\.continue[\s\S]*ticket 8/)
    expect(own(visited)).toEqual([])
  })

  it('an action of unknown outcome is shown as that, and is sent again only by force', async () => {
    const swap = await begin('sideshift', { status: 'refund' })
    await using visited = await visitSwap(swap)
    const { page } = visited
    const dialog = dialogOf(page)
    world.exchanges.sideshift.losesNextAction = 'before'
    await buttonsOf(page).getByText('Set refund address…').click()
    await dialog.getByLabel('Address').fill(refundAddress)
    await dialog.getByLabel('Note').fill('ticket 9')
    const send = dialog.getByRole('button', { name: 'Set the address' })
    await send.click()
    await expect.poll(() => dialog.getByRole('alert').innerText()).toContain('The outcome is unknown')
    const force = dialog.getByRole('button', { name: 'Do it all the same' })
    expect(await force.count()).toBe(0)
    await expectWellShown(page)
    await send.click()
    await force.waitFor()
    expect(sentAt(swap, 'refundAddress')).toHaveLength(1)
    await expectWellShown(page)
    await force.click()
    await expect.poll(() => page.getByRole('status').innerText()).toContain('The provider has taken it')
    expect(sentAt(swap, 'refundAddress')).toEqual([{ address: refundAddress }, { address: refundAddress }])
    expect((await auditedFor(page, swap)).match(/transaction\.refund_address/g)).toHaveLength(2)
    expect(own(visited)).toEqual([])
  })
})
