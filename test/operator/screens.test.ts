// Takes long: Chromium, over stores of the test's own.
/** docs/contract-operators.md §15: how the operator's page looks with what providers and clients may write, on a wide screen and on a phone. */
import type { Page } from 'playwright-core'
import { describe, expect, it, test } from 'vitest'
import { type Visit, visit } from '../api-docs-page/browser.ts'
import { dialogOf, overflow, show, signIn, violations } from './browser.ts'
import { serveApi, token } from './served.ts'

const at = Date.parse('2026-11-27T03:00:00Z')
const monero = '8'.padEnd(95, 'Ab3')
const markup = '"><img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>&lt;\u202e'

interface Texts {
  readonly id: string
  readonly account: string
  readonly address: string
  readonly word: string
}

/** Twenty-one rows of four causes. */
function rowsWith({ id, account, address, word }: Texts) {
  const requested = { amountIn: '0.12345678', codeFrom: `BTC${word}`, codeTo: `XMR${word}`, withdrawalAddress: address }
  const create = (number: number, more: object) => ({
    intent: `${id}${String(number).padStart(4, '0')}`,
    owner: 'owner',
    account,
    provider: 'alpha',
    state: 'unknown',
    requested,
    attemptedAt: at + number * 60_000,
    ...more,
  })
  const unresolved = [
    ...Array.from({ length: 11 }, (_, number) => create(number, {})),
    ...Array.from({ length: 4 }, (_, number) => create(20 + number, { provider: 'beta', candidates: [`${id}a`, `${id}b`] })),
    ...Array.from({ length: 3 }, (_, number) =>
      create(40 + number, { state: 'mismatch', reported: { id: `${id}c`, fields: [`amountIn${word}`] } }),
    ),
  ]
  const needPerson = Array.from({ length: 3 }, (_, number) => found(`${id}t${number}`, account, address, word))
  return { unresolved, needPerson }
}

function found(id: string, account: string, address: string, word: string) {
  const createdAt = new Date(at).toISOString()
  const transaction = {
    id,
    status: 'wait',
    attention: 'failed',
    amountIn: `1${word}`,
    codeFrom: `BTC${word}`,
    codeTo: 'XMR',
    createdAt,
  }
  return {
    account,
    entry: {
      provider: 'alpha',
      transaction: { ...transaction, withdrawalAddress: address, depositAddress: address, rate: word },
      reportedAt: at,
      fetchedAt: at,
      isCreated: true,
    },
  }
}

function foundSwap({ account, entry }: ReturnType<typeof found>, intent: string) {
  const { provider, transaction } = entry
  const names = { intent, provider, providerId: transaction.id, account, requestId: `request-${intent}`, keyId: `key-${intent}` }
  return { ...names, state: 'done', attemptedAt: at, entry }
}

/** One of each, with the text wherever one is. */
function eventsWith(word: string) {
  const call = { provider: `alpha${word}`, operation: `create_transaction${word}`, milliseconds: 10_003 }
  const events = [
    {
      event: 'routed',
      provider: `alpha${word}`,
      strategy: 'best',
      because: 'best_quote',
      omitted: [{ provider: word, because: 'off' }],
    },
    { event: 'compared', provider: `beta${word}`, amountOut: '12.5' },
    { event: 'compared', provider: 'gamma', reason: `timed_out${word}` },
    { event: 'passed_over', provider: 'alpha', reason: `rate_limited${word}`, because: 'limited' },
    { event: 'quoted', provider: 'alpha', source: 'own', rateType: 'float', amountIn: '1', amountOut: `12.5${word}`, rate: '12.5' },
    { event: 'call', ...call, status: 201, outcome: 'done' },
    { event: 'call', ...call, outcome: 'failed', cause: `reset${word}` },
    { event: 'outcome', outcome: 'mismatch', status: 'wait', fields: [`amountIn${word}`] },
    { event: 'search', outcome: 'found', candidates: 2, calls: [{ ...call, status: 200, outcome: 'done' }] },
    { event: 'status', from: 'wait', to: null, attention: 'failed' },
    { event: 'person', actor: `alice${word}`, action: 'transaction.settle', decision: { note: word } },
    { event: 'of_a_later_version', text: word },
  ]
  return events.map((event, number) => ({ at: at + number * 1_234, ...event }))
}

/** The page over such rows, keys and an audit log. */
async function serve(texts: Texts) {
  const { unresolved, needPerson } = rowsWith(texts)
  const { id, account, word } = texts
  const counts = [{ provider: 'alpha', state: 'done', status: 'wait', count: 3 }]
  const networks = ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7/32']
  const keys = [
    { id: `${id}1`, name: account, createdAt: at, hint: 'wriB', scope: ['quote', 'read'] as const, networks, lastUsedAt: at },
    { id: `${id}2`, name: account, createdAt: at, expiresAt: at + 400 * 86_400_000 },
    { id: `${id}3`, name: account, createdAt: at, revokedAt: at + 1 },
  ]
  const records = [
    {
      id: '1',
      at,
      actor: `alice${word}`,
      action: 'transaction.settle',
      subject: `alpha~${id}t0`,
      before: word,
      after: { note: word },
    },
    { id: '2', at, actor: 'file', action: 'provider.state', subject: word, before: 'active', after: word },
  ]
  const url = `https://receiver.example/${encodeURIComponent(word)}`
  const webhook = { id: 'wh_1', account, url: `${url}${word}`, form: 'A', state: 'active', createdAt: at }
  const attempts = [
    { at, status: 500, ms: 12, body: `down${word}`.slice(0, 200) },
    { at: at + 5_000, status: null, ms: 10_000, body: null, reason: 'timeout' },
  ]
  const stores = {
    ledgerAdmin: {
      unresolved: async (after?: unknown) => (after === undefined ? unresolved : []),
      needPerson: async () => needPerson,
      unresolvedCount: async () => 21,
      openCounts: async () => counts,
      search: async () => ({ found: needPerson, count: 3 }),
      find: async (text: string) => ({
        found: needPerson
          .filter(({ entry }) => text === `alpha~${entry.transaction.id}` || text === account)
          .map((one, number) => ({ ...foundSwap(one, `${id}${number}`), matched: [text === account ? 'account' : 'id'] })),
      }),
      timeline: async (id: string) => {
        const one = needPerson.find(({ entry }) => id === `alpha~${entry.transaction.id}`)
        return one && { swap: { ...foundSwap(one, id), matched: [] }, events: eventsWith(word) }
      },
      findTransaction: async () => needPerson[0],
      findUnresolved: async () => undefined,
    },
    audit: { read: async () => records, append: async () => {} },
    accounts: {
      listKeys: async () => keys,
      listAccounts: async () => [
        { name: account, createdAt: at, limits: { quotes: 600, create: 60, streams: 50 }, keys: 3, validKeys: 2 },
        { name: `${account}.`, createdAt: at, limits: {}, keys: 0, validKeys: 0 },
      ],
    },
    overrides: { read: async () => [{ key: 'state:alpha', value: 'draining', actor: `bob${word}`, since: at }] },
    suspensions: { read: async () => [] },
    replicaFigures: { read: async () => [] },
    currencyLists: {},
    webhooks: {
      list: async () => [webhook],
      find: async () => webhook,
      countsOfAll: async () => new Map([['wh_1', { waiting: 3, failed: 1 }]]),
      counts: async () => ({ waiting: 3, failed: 1 }),
      deliveries: async () => ({
        parts: [
          [
            { id: 'msg_1', webhook: 'wh_1', provider: 'alpha', providerId: `${id}t0`, state: 'failed', attempts, createdAt: at },
            {
              id: 'msg_2',
              webhook: 'wh_1',
              provider: 'alpha',
              providerId: `${id}t0`,
              state: 'waiting',
              attempts: [],
              createdAt: at,
            },
          ],
        ],
      }),
    },
    restores: { undecided: async () => [], assigned: async () => [] },
  }
  const provider = (name: string) => ({ name, tag: name, account: name, form: 'A', state: 'active', rateLimit: {} })
  return serveApi(stores, {
    providers: [provider('alpha'), provider('beta')],
    routing: { strategy: 'priority', providers: ['alpha', 'beta'] },
    redis: { url: '' },
  })
}

function usageOf({ account, word }: Texts) {
  const amounts = { in: { [`BTC${word}`]: '12345678.123456789012345678', ETH: '30' }, out: { USDTTRC20: '98765.432109' } }
  const counts = { ok: 123_456, limited: 12, refused: 3, failed: 0 }
  return {
    since: new Date(at).toISOString(),
    accounts: [
      {
        account,
        creates: { done: 104, refused: 3, unknown: 1, mismatch: 0 },
        swaps: { success: 101, wait: 3 },
        amounts,
        open: { in: { BTC: '0.1' }, out: {} },
        requests: { get_rate: counts, create_transaction: { ...counts, ok: 104 }, [`native${word}`]: counts },
      },
    ],
  }
}

const usual = {
  id: '65f727d7-99c1-472d-a229-a56392ea',
  account: 'Müller & Söhne Handelsgesellschaft mbH',
  address: monero,
  word: '',
}

async function open(texts: Texts, width: number, more: object = {}) {
  const api = await serve(texts)
  const visited = await visit(`${api.url}/`, { viewport: { width, height: 800 }, ...more })
  await visited.page.route('**/api/usage?*', (route) => route.fulfill({ json: usageOf(texts) }))
  await signIn(visited.page, token)
  return {
    ...visited,
    async [Symbol.asyncDispose]() {
      await visited[Symbol.asyncDispose]()
      await api[Symbol.asyncDispose]()
    },
  } satisfies Visit
}

const lines = (page: Page) => page.locator('tr.line')
const height = (page: Page): Promise<number> =>
  page.evaluate('document.querySelector("header").offsetHeight + document.querySelector("main").offsetHeight')
const views = ['Overview', 'Needs a person', 'Swaps', 'Accounts and keys', 'Webhooks', 'Audit log']

describe('twenty-one rows that need a person', () => {
  // One page of everything was 3,895 and 10,798 pixels.
  it.each([
    [1280, 34, 1_150],
    [390, 50, 1_900],
  ])('are on a screen of %i pixels at most %i pixels high, and the page %i', async (width, ofRow, ofPage) => {
    await using visited = await open(usual, width)
    const { page } = visited
    await show(page, 'Needs a person')
    await expect.poll(() => lines(page).count()).toBe(21)
    const heights = await lines(page).evaluateAll((rows) =>
      rows.map((row) => (row as unknown as { offsetHeight: number }).offsetHeight),
    )
    expect(Math.max(...heights)).toBeLessThanOrEqual(ofRow)
    expect(await height(page)).toBeLessThanOrEqual(ofPage)
    expect(await overflow(page)).toBe(0)
  })

  it('are grouped by cause, with the provider, the number and the oldest', async () => {
    await using visited = await open(usual, 1280)
    const { page } = visited
    const causes = page.locator('.causes li')
    await expect.poll(() => causes.count()).toBe(4)
    expect((await causes.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/^11 creates at alpha the outcome is unknown, the oldest since 27 Nov 03:00:00 UTC$/),
      expect.stringMatching(/^4 creates at beta the outcome is unknown, the oldest since/),
      expect.stringMatching(/^3 creates at alpha differs in amountIn, the oldest since/),
      expect.stringMatching(/^3 transactions at alpha reported as failed, the oldest since/),
    ])
    await page.getByRole('link', { name: '4 creates at beta' }).click()
    await expect.poll(() => lines(page).count()).toBe(4)
  })

  it('are filtered by provider, cause, account and text, and the link to what is shown can be sent on', async () => {
    await using visited = await open(usual, 1280)
    const { page } = visited
    await show(page, 'Needs a person')
    await page.getByLabel('Provider').selectOption('alpha')
    await expect.poll(() => lines(page).count()).toBe(17)
    await page.getByLabel('Cause').selectOption({ label: 'differs in amountIn' })
    await expect.poll(() => lines(page).count()).toBe(3)
    await page.getByLabel('Contains').fill('0041')
    await page.keyboard.press('Enter')
    await expect.poll(() => lines(page).count()).toBe(1)
    const link = page.url()
    await using other = await visit(link)
    await signIn(other.page, token)
    await expect.poll(() => lines(other.page).count()).toBe(1)
    expect(await other.page.getByLabel('Provider').inputValue()).toBe('alpha')
    await other.page.getByRole('link', { name: 'Show all' }).click()
    await expect.poll(() => lines(other.page).count()).toBe(21)
  })

  it('show by keyboard what a line leaves out', async () => {
    await using visited = await open(usual, 390)
    const { page } = visited
    await show(page, 'Needs a person')
    const toggle = page.getByRole('button', { name: /^Details of / }).first()
    await toggle.focus()
    await page.keyboard.press('Enter')
    expect(await toggle.getAttribute('aria-expanded')).toBe('true')
    expect(await page.locator('.details').innerText()).toContain(monero)
    await page.locator('.details').getByRole('button', { name: /^None/ }).click()
    expect(await dialogOf(page).innerText()).toContain(monero)
    await page.keyboard.press('Escape')
    await toggle.press('Enter')
    expect(await page.locator('.details').count()).toBe(0)
  })

  it('are two clicks from an id to the cause', async () => {
    await using visited = await open(usual, 1280)
    const { page } = visited
    await page.getByLabel('Find swaps').fill(`alpha~${usual.id}t0`)
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByText('reported as failed').waitFor()
    expect(await page.locator('.facts').innerText()).toContain(monero)
    expect(page.url()).toContain(`#/swap/alpha~${usual.id}t0`)
    expect(await page.locator('.verdict').innerText()).toContain(
      'create_transaction at alpha: no response, failed, reset, 10,003 ms',
    )
    await page.goBack()
    await expect.poll(() => page.url()).not.toContain('#/swap')
  })

  it('are found by an account, and nothing is found where nothing is', async () => {
    await using visited = await open(usual, 1280)
    const { page } = visited
    const find = async (text: string) => {
      await page.getByLabel('Find swaps').fill(text)
      await page.keyboard.press('Enter')
    }
    await find(usual.account)
    await page.getByText('3 found').waitFor()
    await find('nothing-of-this-name')
    await page.getByText('No swap was found.').waitFor()
    await page.goto(`${page.url().split('#')[0]}#/swap/alpha~nothing`)
    await page.getByText('The ledger has no swap with this id.').waitFor()
  })
})

it.each([1280, 390])(
  'deliveries of a webhook have each attempt, and a button that sends one again, at %i pixels',
  async (width) => {
    await using visited = await open(usual, width)
    const { page } = visited
    await show(page, 'Webhooks')
    await page.getByRole('link', { name: 'https://receiver.example/' }).click()
    const deliveries = page.getByRole('table', { name: 'Deliveries' })
    await deliveries.getByText('no answer (timeout), 10,000 ms').waitFor()
    await deliveries.getByRole('button', { name: 'Details of msg_1' }).click()
    expect((await deliveries.locator('.attempts').innerText()).replace(/\s+/g, ' ')).toContain(
      '500, 12 ms, 27 Nov 03:00:00 UTC: down no answer (timeout), 10,000 ms, 27 Nov 03:00:05 UTC',
    )
    expect([await overflow(page), await violations(page)]).toEqual([0, []])
    await deliveries.getByRole('button', { name: 'Send again: msg_1' }).first().click()
    expect(await dialogOf(page).innerText()).toContain('under the same id')
    expect(await violations(page)).toEqual([])
  },
)

describe('accounts and keys', () => {
  it.each([1280, 390])('say at %i pixels which limits, keys and usage each account has', async (width) => {
    await using visited = await open(usual, width)
    const { page } = visited
    await show(page, 'Accounts and keys')
    const accounts = page.getByRole('table', { name: 'Accounts' })
    await accounts.getByText('104 swaps, 247,061 requests').waitFor()
    const [first = '', second = ''] = (await accounts.locator('.line').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
    expect(first).toContain('2 of 3')
    expect(first).toContain('quotes 600, creates 60, streams 50')
    expect(second).toContain('0 of 0')
    expect(second).toContain('as configured')
    await accounts.getByRole('button', { name: `Details of ${usual.account}`, exact: true }).click()
    const details = (await accounts.locator('.details').innerText()).replace(/\s+/g, ' ')
    for (const text of [
      'Creates 104 done, 3 refused, 1 unknown',
      'Received 12345678.123456789012345678 BTC, 30 ETH',
      'Paid out 98765.432109 USDTTRC20',
      'Under way, out none',
      'get_rate 123,456 ok, 12 limited, 3 refused',
    ])
      expect(details).toContain(text)
    const keys = page.getByRole('table', { name: 'Keys' })
    const row = (await keys.locator('.line').first().innerText()).replace(/\s+/g, ' ')
    expect(row).toContain('…wriB')
    expect(row).toContain('quote, read; 203.0.113.0/24')
    expect(row).toContain('27 Nov 03:00:00 UTC')
    await keys
      .getByRole('button', { name: /^Details of / })
      .first()
      .click()
    expect((await keys.locator('.details').innerText()).replace(/\s+/g, ' ')).toContain(
      'From 203.0.113.0/24, 2001:db8::/32, 198.51.100.7/32',
    )
    expect([await overflow(page), await violations(page)]).toEqual([0, []])
  })

  it.each([1280, 390])('have dialogs that fit at %i pixels', async (width) => {
    await using visited = await open(usual, width)
    const { page } = visited
    await show(page, 'Accounts and keys')
    for (const name of ['New account…', 'New key…']) {
      await page.getByRole('button', { name, exact: true }).click()
      await dialogOf(page).getByLabel('Account').waitFor()
      expect([name, await overflow(page), await violations(page)]).toEqual([name, 0, []])
      await page.keyboard.press('Escape')
    }
  })
})

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  it.each([1280, 800, 390])('axe finds nothing in any view at %i pixels, and nothing scrolls sideways', async (width) => {
    await using visited = await open(usual, width, { colorScheme })
    const { page } = visited
    for (const view of views) {
      await show(page, view)
      await page.locator('section').first().waitFor()
      await page.getByText('Loading…').first().waitFor({ state: 'detached' })
      expect([view, await overflow(page), await violations(page)]).toEqual([view, 0, []])
    }
    await page.goto(`${page.url().split('#')[0]}#/swap/alpha~${usual.id}t0`)
    await page.locator('.facts').waitFor()
    expect([await overflow(page), await violations(page)]).toEqual([0, []])
    await page.getByRole('button', { name: /^Settle/ }).click()
    expect(await violations(page)).toEqual([])
  })
})

test('markup in any text of a provider, a client or an operator is text', async () => {
  // No id has a character that turns the direction of text.
  const id = markup.replace('\u202e', '')
  const hostile = { id, account: markup.slice(0, 64), address: markup, word: markup }
  await using visited = await open(hostile, 1280)
  const { page, complaints, requestedUrls } = visited
  const check = async () => {
    expect(await page.locator('img, main script, [onerror]').count()).toBe(0)
    expect(await page.title()).not.toBe('owned')
    expect(await overflow(page)).toBe(0)
  }
  for (const view of views) {
    await show(page, view)
    await expect.poll(() => page.locator('main').innerText()).toContain('<img src=x')
    for (const toggle of await page.getByRole('button', { name: /^Details of / }).all()) await toggle.click()
    await check()
  }
  await page.goto(`${page.url().split('#')[0]}#/swap/${encodeURIComponent(`alpha~${id}t0`)}`)
  await page.locator('.facts').waitFor()
  await check()
  await page.goto(`${page.url().split('#')[0]}#/swaps?account=%3Cimg%20src=x%3E&status=%3Cb%3E&q=%00%FF`)
  await page.locator('section').waitFor()
  await check()
  for (const link of await page.getByRole('link').all()) expect(await link.getAttribute('href')).toMatch(/^#\//)
  expect(requestedUrls.filter((url) => /\/x$/.test(url))).toEqual([])
  expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
})

test('a swap has what happened to it: why its provider, each call with status and milliseconds, each status, each act of a person', async () => {
  await using visited = await open(usual, 1280)
  const { page } = visited
  await page.goto(`${page.url().split('#')[0]}#/swap/alpha~${usual.id}t0`)
  const events = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem')
  await events.first().waitFor()
  const texts = (await events.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim())
  expect(texts).toEqual([
    expect.stringMatching(/^27 Nov 03:00:00\.000 UTC Requested request request-.+, key key-/),
    '27 Nov 03:00:00.000 UTC Routed to alpha: it quotes the most (strategy best); is off',
    '27 Nov 03:00:01.234 UTC Compared beta quotes 12.5',
    '27 Nov 03:00:02.468 UTC Compared gamma timed_out',
    '27 Nov 03:00:03.702 UTC Passed over alpha: rate_limited, limited',
    '27 Nov 03:00:04.936 UTC Quote alpha: 1 gives 12.5, rate 12.5, float (a quote for this create)',
    '27 Nov 03:00:06.170 UTC Call create_transaction at alpha: 201 10,003 ms',
    '27 Nov 03:00:07.404 UTC Call create_transaction at alpha: no response, failed, reset 10,003 ms',
    '27 Nov 03:00:08.638 UTC Outcome mismatch, wait, differs in amountIn',
    '27 Nov 03:00:09.872 UTC Looked for found, may be one of 2; create_transaction at alpha: 200, 10,003 ms',
    '27 Nov 03:00:11.106 UTC Status wait → unknown, failed',
    expect.stringContaining('Person alice: transaction.settle'),
    expect.stringContaining('of_a_later_version'),
  ])
})

test('times have their zone: that of the browser, or UTC', async () => {
  await using visited = await open(usual, 1280, { timezoneId: 'Asia/Kolkata' })
  const { page } = visited
  await page.getByText('27 Nov 08:30:00 GMT+5:30').first().waitFor()
  await page.getByRole('button', { name: 'Times in UTC' }).click()
  await page.getByText('27 Nov 03:00:00 UTC').first().waitFor()
  expect(await page.getByText('GMT').count()).toBe(0)
})
