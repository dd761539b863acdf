/** docs/contract-operators.md §10.6: a backup of the ledger was restored, and lacks the swaps that were made after it. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { query } from '../ledger/raw.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { transactionA } from '../support/form-a.ts'
import type { StartedGateway } from '../support/gateway.ts'
import { digits } from '../support/json.ts'
import { orderIn } from '../support/managed.ts'
import { type Client, client, type FormName } from '../support/pair.ts'
import { swap } from '../support/swaps.ts'
import { type RestoreRig, restoreRig } from './rig.ts'

const recently = (): string => new Date(Date.now() - 3_600_000).toISOString()

/** An order that the provider has, and the ledger lacks. */
const lost = (facts: Parameters<typeof swap>[0] = {}) =>
  swap({ id: 'lost-1', createdAt: recently(), updatedAt: recently(), ...facts })

interface Caller {
  readonly get: (id: string) => Promise<ReceivedResponse>
  readonly list: () => Promise<ReceivedResponse>
  readonly create: (facts?: object, key?: string) => Promise<ReceivedResponse>
}

async function callerOf(gateway: StartedGateway, account = 'acme', form: FormName = 'A'): Promise<Caller> {
  const key = await gateway.issueKey(account)
  const { get, post }: Client = client(form, gateway.url)
  return {
    get: (id) => get(`/transactions/${id}`, { key }),
    list: () => get('/transactions', { key }),
    create: (facts = {}, idempotencyKey) =>
      post('/transactions', orderIn(form, facts), {
        key,
        headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
      }),
  }
}

const reasonOf = ({ status, headers }: ReceivedResponse) => [status, headers['x-swap-reason']]
const restored503 = [503, 'ledger_restored']
const restored409 = [409, 'ledger_restored']

async function marked(store: 'SQLite' | 'PostgreSQL' = 'SQLite', routing?: readonly string[]) {
  const rig = await restoreRig(store, routing)
  const gateway = await rig.start()
  const { exitCode, err } = await rig.swapgate('ledger', 'mark-restored')
  expect([exitCode, err]).toEqual([0, []])
  await gateway.followRestores()
  return { ...rig, gateway }
}

async function rebuilt(rig: RestoreRig & { readonly gateway: StartedGateway }, ...names: readonly string[]) {
  const result = await rig.swapgate('ledger', 'rebuild', ...(names.length > 0 ? names : ['alpha', 'beta']))
  await rig.gateway.followRestores()
  return result
}

describe.each(['SQLite', 'PostgreSQL'] as const)('in %s', (store) => {
  test('a swap that was made after the backup is never 404, is found, and is its account’s again', async () => {
    const rig = await marked(store)
    const { gateway, alpha, swapgate } = rig
    const [acme, other] = [await callerOf(gateway), await callerOf(gateway, 'other')]
    alpha.holdings.swaps = [lost()]
    const before = await acme.get('alpha~lost-1')
    expect([reasonOf(before), before.headers['retry-after']]).toEqual([restored503, '60'])
    expect(reasonOf(await acme.create())).toEqual(restored503)
    expect((await rebuilt(rig)).out).toEqual([
      'alpha: its list was read whole, with 1 orders. Creates go on there.',
      'The ledger lacks 1 of them: swapgate ledger found list. A create that may be one of them is 409.',
      'beta: its list was read whole, with 0 orders. Creates go on there.',
      'The ledger lacks none of them.',
    ])
    expect(reasonOf(await acme.get('alpha~lost-1'))).toEqual(restored503)
    const [found] = JSON.parse((await swapgate('ledger', 'found', 'list', '--json')).out.join('')) as readonly object[]
    expect(found).toMatchObject({
      id: 'alpha~lost-1',
      amountIn: '0.10',
      withdrawalAddress: 'TWithdraw1',
      hasDetails: true,
      account: null,
    })
    const assigned = await swapgate(
      'ledger',
      'found',
      'assign',
      'alpha~lost-1',
      '--account',
      'acme',
      '--no-key',
      '--withdrawal-address',
      'TWithdraw1',
      '--note',
      'by the log',
    )
    expect([assigned.exitCode, assigned.out]).toEqual([
      0,
      [
        'alpha~lost-1 is now a swap of the account acme.',
        expect.stringMatching(/^Not confirmed by anybody: .*amountIn 0\.10/),
        'No other create waited for it.',
      ],
    ])
    await gateway.followRestores()
    expect((await acme.get('alpha~lost-1')).json).toMatchObject({ id: 'alpha~lost-1', status: 'wait' })
    expect((await acme.list()).json).toMatchObject({ data: [{ id: 'alpha~lost-1' }] })
    expect(reasonOf(await other.get('alpha~lost-1'))).toEqual([404, 'not_found'])
    expect(reasonOf(await acme.get('alpha~never-made'))).toEqual([404, 'not_found'])
    expect((await swapgate('ledger', 'found', 'list')).out).toEqual(['No found order waits for a person.'])
    const audit = await rig.place.facts<readonly { action: string; subject: string }[]>('audit')
    expect(audit.map(({ action, subject }) => [action, subject])).toEqual(
      expect.arrayContaining([
        ['order.assign', 'alpha~lost-1'],
        ['restore.read', 'alpha'],
        ['restore.mark', 'alpha, beta'],
      ]),
    )
  })

  test('a create that may be a lost order is 409 until a person has decided, and all others go on', async () => {
    const rig = await marked(store)
    const { gateway, alpha, swapgate } = rig
    const acme = await callerOf(gateway)
    alpha.holdings.swaps = [lost({ refundAddress: null })]
    await rebuilt(rig)
    const repeat = await acme.create({}, 'order-1')
    expect([reasonOf(repeat), repeat.headers['retry-after']]).toEqual([restored409, '600'])
    expect(reasonOf(await acme.create())).toEqual(restored409)
    expect(alpha.received('create')).toEqual([])
    for (const facts of [{ amount: digits('0.11') }, { withdrawalAddress: 'TOther1' }, { coinFrom: 'ETH' }])
      expect((await acme.create(facts)).status).toBe(201)
    await swapgate('ledger', 'found', 'dismiss', 'alpha~lost-1', '--note', 'of another program')
    expect((await acme.create({}, 'order-1')).status).toBe(201)
  })
})

test('an order that was paid a little less for is its create’s all the same: repeated it is 409, and by its key it is the swap', async () => {
  const rig = await marked()
  const acme = await callerOf(rig.gateway)
  const paid = { status: 'exchanging', amountIn: digits('0.0995'), txHashIn: 'hash-1', refundAddress: null } as const
  rig.alpha.holdings.swaps = [lost(paid)]
  await rebuilt(rig)
  expect(reasonOf(await acme.create({}, 'order-1'))).toEqual(restored409)
  const how = ['--account', 'acme', '--unconfirmed', '--key', 'order-2', '--note', 'log']
  expect((await rig.swapgate('ledger', 'found', 'assign', 'alpha~lost-1', ...how)).exitCode).toBe(0)
  await rig.gateway.followRestores()
  expect((await acme.create({}, 'order-2')).json).toMatchObject({ id: 'alpha~lost-1' })
  expect(rig.alpha.received('create')).toEqual([])
})

test('the real way: a backup, a swap after it, the backup restored', async () => {
  const rig = await restoreRig()
  const first = await rig.start()
  const acme = await callerOf(first)
  const kept = await acme.create({}, 'order-1')
  const backup = join(rig.place.directory, 'backup.db')
  expect((await rig.swapgate('ledger', 'backup', backup)).exitCode).toBe(0)
  const gone = await acme.create({ amount: digits('0.2') }, 'order-2')
  await first.close()
  rig.restore(backup)
  await rig.swapgate('ledger', 'mark-restored')
  const gateway = await rig.start()
  const again = await callerOf(gateway)
  expect((await again.get((kept.json as { id: string }).id)).status).toBe(200)
  expect((await again.create({}, 'order-1')).headers['idempotent-replayed']).toBe('true')
  expect(reasonOf(await again.create({ amount: digits('0.2') }, 'order-2'))).toEqual(restored503)
  await rebuilt({ ...rig, gateway })
  expect(reasonOf(await again.create({ amount: digits('0.2') }, 'order-2'))).toEqual(restored409)
  const { id } = gone.json as { id: string }
  expect(
    (await rig.swapgate('ledger', 'found', 'assign', id, '--account', 'acme', '--unconfirmed', '--key', 'order-2', '--note', 'log'))
      .exitCode,
  ).toBe(0)
  expect((await again.get(id)).status).toBe(200)
  expect((await again.create({ amount: digits('0.2') }, 'order-2')).json).toMatchObject({ id })
  expect(rig.alpha.received('create')).toHaveLength(2)
})

describe('while the lists were not read', () => {
  test('every id of a known tag that the ledger lacks gets the same answer, in each form', async () => {
    const { gateway, alpha } = await marked()
    alpha.holdings.swaps = [lost()]
    for (const form of ['A', 'B'] as const) {
      const caller = await callerOf(gateway, `of-${form}`, form)
      const answers = await Promise.all(['alpha~lost-1', 'alpha~never-made', 'beta~x'].map((id) => caller.get(id)))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(answers.map(reasonOf)).toEqual([restored503, restored503, restored503])
      for (const id of ['gamma~lost-1', 'lost-1', 'alpha~', `alpha~${'x'.repeat(257)}`])
        expect(reasonOf(await caller.get(id))).toEqual([404, 'not_found'])
    }
    expect(alpha.received('get')).toEqual([])
  })

  test('a swap of another account that the ledger has is 404, as ever', async () => {
    const rig = await restoreRig()
    const gateway = await rig.start()
    const acme = await callerOf(gateway)
    const { id } = (await acme.create()).json as { id: string }
    await rig.swapgate('ledger', 'mark-restored')
    await gateway.followRestores()
    expect(reasonOf(await (await callerOf(gateway, 'other')).get(id))).toEqual([404, 'not_found'])
    expect((await acme.get(id)).status).toBe(200)
  })

  test('a create without a key goes to a provider whose list was read; one with a key may be a repeat, and waits for all', async () => {
    const rig = await marked('SQLite', ['alpha', 'beta'])
    const acme = await callerOf(rig.gateway)
    await rebuilt(rig, 'beta')
    expect(reasonOf(await acme.create({}, 'order-1'))).toEqual(restored503)
    const taken = await acme.create()
    expect([taken.status, taken.headers['x-swap-provider']]).toEqual([201, 'beta'])
    await rebuilt(rig, 'alpha')
    expect((await acme.create({ amount: digits('0.3') }, 'order-1')).headers['x-swap-provider']).toBe('alpha')
  })

  test('a repeat with a quote that the ledger has forgotten is not told that its quote is over', async () => {
    const rig = await marked()
    const acme = await callerOf(rig.gateway)
    const create = () => acme.create({ rateType: 'fixed', quoteId: crypto.randomUUID() }, 'order-1')
    expect(reasonOf(await create())).toEqual(restored503)
    rig.alpha.holdings.swaps = [lost({ rateType: 'fixed', refundAddress: null })]
    await rebuilt(rig)
    expect(reasonOf(await create())).toEqual(restored409)
    await rig.swapgate('ledger', 'found', 'dismiss', 'alpha~lost-1', '--note', 'not ours')
    await rig.gateway.followRestores()
    expect(reasonOf(await create())).toEqual([409, 'quote_expired'])
  })

  test('quotes go on', async () => {
    const { gateway } = await marked()
    const { get } = client('A', gateway.url)
    expect((await get('/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=0.1', { key: null })).status).toBe(200)
  })
})

describe('swapgate ledger rebuild', () => {
  test('a list that breaks off leaves creates stopped, and the next run goes on', async () => {
    const rig = await marked()
    const acme = await callerOf(rig.gateway)
    rig.alpha.holdings.swaps = [lost()]
    rig.alpha.reply('list', { status: 403, json: { error: 'Forbidden', message: 'no', code: 403 } })
    const failed = await rebuilt(rig, 'alpha')
    expect([failed.exitCode, failed.err.at(-1)]).toEqual([
      1,
      expect.stringMatching(/was not read whole: .*what it found so far is kept/),
    ])
    expect(reasonOf(await acme.create())).toEqual(restored503)
    rig.alpha.reply('list', () => undefined)
    expect((await rebuilt(rig, 'alpha', 'beta')).exitCode).toBe(0)
    expect(reasonOf(await acme.create({ amount: digits('0.7') }))).toEqual([201, undefined])
  })

  test('a list with fewer rows than its total is not whole', async () => {
    const rig = await marked()
    rig.alpha.holdings.swaps = [lost()]
    const { rows, total } = { rows: [], total: 40 }
    rig.alpha.reply('list', { json: { data: rows, pagination: { page: 1, size: 20, total } } })
    const { exitCode } = await rebuilt(rig, 'alpha')
    expect([exitCode, reasonOf(await (await callerOf(rig.gateway)).create())]).toEqual([1, restored503])
  })

  test('what the gateways made themselves meanwhile is not missing', async () => {
    const rig = await marked('SQLite', ['alpha', 'beta'])
    const acme = await callerOf(rig.gateway)
    await rebuilt(rig, 'beta')
    const { id } = (await acme.create()).json as { id: string }
    await rebuilt(rig, 'beta', 'alpha')
    expect(await rig.gateway.restores.undecided()).toEqual([])
    expect((await acme.get(id)).status).toBe(200)
  })

  test('an order is found once, however often and wherever it is listed', async () => {
    const rig = await marked()
    rig.alpha.holdings.swaps = [lost(), lost(), lost({ id: 'beta~1' })]
    await rebuilt(rig)
    await rebuilt(rig)
    const undecided = await rig.gateway.restores.undecided()
    expect(undecided.map(({ provider, id }) => [provider, id]).toSorted()).toEqual([
      ['alpha', 'beta~1'],
      ['alpha', 'lost-1'],
    ])
  })

  test('an order that was dismissed is not found again', async () => {
    const rig = await marked()
    rig.alpha.holdings.swaps = [lost()]
    await rebuilt(rig)
    await rig.swapgate('ledger', 'found', 'dismiss', 'alpha~lost-1', '--note', 'not ours')
    await rebuilt(rig)
    expect(await rig.gateway.restores.undecided()).toEqual([])
    expect(reasonOf(await (await callerOf(rig.gateway)).get('alpha~lost-1'))).toEqual([404, 'not_found'])
  })

  test('orders from before the backup are not looked for', async () => {
    const rig = await restoreRig()
    const gateway = await rig.start()
    rig.alpha.holdings.swaps = [lost({ id: 'old', createdAt: '2026-03-01T10:00:00.000Z' }), lost()]
    const since = new Date(Date.now() - 86_400_000).toISOString()
    expect((await rig.swapgate('ledger', 'mark-restored', '--since', since)).exitCode).toBe(0)
    await rig.swapgate('ledger', 'rebuild', 'alpha')
    expect((await gateway.restores.undecided()).map(({ id }) => id)).toEqual(['lost-1'])
  })

  test('a time of the backup that is later than what the ledger shows loses no order', async () => {
    const rig = await restoreRig()
    const gateway = await rig.start()
    await callerOf(gateway)
    const [day, now] = [86_400_000, Date.now()]
    await query(rig.place.ledgerUrl, `UPDATE audit SET at = at - ${10 * day}`)
    rig.alpha.holdings.swaps = [lost({ createdAt: new Date(now - 5 * day).toISOString() })]
    // That of the restore, in the place of that of the backup.
    expect((await rig.swapgate('ledger', 'mark-restored', '--since', new Date(now).toISOString())).exitCode).toBe(0)
    await rig.swapgate('ledger', 'rebuild', 'alpha')
    expect((await gateway.restores.undecided()).map(({ id }) => id)).toEqual(['lost-1'])
  })

  test('what cannot be read of an order beside its row is said, and read by the next run', async () => {
    const rig = await marked()
    rig.alpha.holdings.swaps = [lost()]
    rig.alpha.reply('get', { status: 403, json: { error: 'Forbidden', message: 'no', code: 403 } })
    const { exitCode, out } = await rebuilt(rig, 'alpha')
    expect([exitCode, out.at(-1)]).toEqual([0, 'Of 1 of these it says no more than its list does; run this again for the rest.'])
    expect(await rig.gateway.restores.undecided()).toMatchObject([{ hasDetails: false }])
    rig.alpha.reply('get', () => undefined)
    await rebuilt(rig, 'alpha')
    expect(await rig.gateway.restores.undecided()).toMatchObject([{ hasDetails: true }])
  })

  test('rows without an id leave creates stopped, and what was found beside them is kept', async () => {
    const rig = await restoreRig()
    await (await rig.start()).close()
    await rig.swapgate('ledger', 'mark-restored')
    rig.alpha.holdings.swaps = [lost()]
    rig.alpha.reply('list', { json: { data: [transactionA(lost()), null], pagination: { page: 1, size: 100, total: 2 } } })
    expect(await rig.swapgate('ledger', 'rebuild', 'alpha')).toMatchObject({
      exitCode: 1,
      err: expect.arrayContaining([expect.stringMatching(/1 rows of its list have no id that can be read/)]),
    })
    expect((await rig.swapgate('ledger', 'found', 'list')).out.join()).toContain('alpha~lost-1')
  })

  test('a provider without a list is said to have none, and stays stopped', async () => {
    const rig = await restoreRig()
    await (await rig.start()).close()
    rig.place.write(`
auth: { mode: managed }
providers: { alpha: { form: simpleswap, url: "${rig.alpha.url}", key: "provider-key-1" } }
routing: { providers: [alpha] }
`)
    await rig.swapgate('ledger', 'mark-restored')
    expect(await rig.swapgate('ledger', 'rebuild', 'alpha')).toMatchObject({
      exitCode: 1,
      err: [expect.stringMatching(/no list of transactions .* mark-restored --end alpha/)],
    })
  })

  test('a kill between its steps leaves creates stopped, and nothing twice', async () => {
    const rig = await marked()
    rig.alpha.holdings.swaps = [lost()]
    const { restores } = rig.gateway
    const reports = [{ id: 'lost-1', amountIn: '0.10' as never }]
    await restores.keep([{ provider: 'alpha', id: 'lost-1', reports, hasDetails: false, size: undefined }])
    await rig.gateway.followRestores()
    const acme = await callerOf(rig.gateway)
    expect(reasonOf(await acme.create())).toEqual(restored409)
    expect(reasonOf(await acme.create({ amount: digits('0.2') }))).toEqual(restored503)
    await rebuilt(rig, 'alpha')
    expect(await restores.undecided()).toMatchObject([{ id: 'lost-1', hasDetails: true }])
  })

  test('without a restore it refuses, and so for a provider that is not there', async () => {
    const rig = await restoreRig()
    await rig.start()
    expect(await rig.swapgate('ledger', 'rebuild', 'alpha')).toMatchObject({
      exitCode: 1,
      err: [expect.stringContaining('mark-restored')],
    })
    expect(await rig.swapgate('ledger', 'rebuild', 'gamma')).toMatchObject({ exitCode: 1, err: [expect.stringContaining('gamma')] })
  })

  test('a second restore stops creates again', async () => {
    const rig = await marked()
    await rebuilt(rig)
    const acme = await callerOf(rig.gateway)
    expect((await acme.create()).status).toBe(201)
    await rig.swapgate('ledger', 'mark-restored')
    await rig.gateway.followRestores()
    expect(reasonOf(await acme.create({ amount: digits('0.9') }))).toEqual(restored503)
  })
})

describe('while a swap may be lost', () => {
  test('a list says so, a search for its id and its stream are 503, and all of it ends with the decision', async () => {
    const rig = await marked()
    const acme = await callerOf(rig.gateway)
    const key = await rig.gateway.issueKey('acme')
    rig.alpha.holdings.swaps = [lost()]
    const warnedOf = ({ headers }: ReceivedResponse) => headers['x-swap-warning']
    expect(warnedOf(await acme.list())).toBe('ledger_restored')
    await rebuilt(rig)
    expect(warnedOf(await acme.list())).toBe('ledger_restored')
    const exolix = (path: string) =>
      sendRequest(rig.gateway.url, { path: `/exolix/api/v2${path}`, headers: { authorization: key } })
    expect((await exolix('/transactions/alpha~lost-1')).status).toBe(503)
    expect((await exolix('/transactions?search=alpha~lost-1')).status).toBe(503)
    expect(warnedOf(await exolix('/transactions'))).toBe('ledger_restored')
    expect(reasonOf(await client('A', rig.gateway.url).get('/transactions/alpha~lost-1/events', { key }))).toEqual(restored503)
    await rig.swapgate('ledger', 'found', 'dismiss', 'alpha~lost-1', '--note', 'not ours')
    await rig.gateway.followRestores()
    expect(warnedOf(await acme.list())).toBeUndefined()
    expect((await exolix('/transactions/alpha~lost-1')).status).toBe(404)
  })
})

describe('the end', () => {
  test('after 30 days all is as before, but what was found can still be decided about', async () => {
    const rig = await marked()
    rig.alpha.holdings.swaps = [lost()]
    await rebuilt(rig, 'alpha')
    await query(rig.place.ledgerUrl, `UPDATE restored_providers SET restored_at = restored_at - ${30 * 86_400_000}`)
    await rig.gateway.followRestores()
    const acme = await callerOf(rig.gateway)
    expect(reasonOf(await acme.get('beta~x'))).toEqual([404, 'not_found'])
    expect((await acme.create({}, 'order-1')).status).toBe(201)
    expect((await rig.swapgate('ledger', 'found', 'dismiss', 'alpha~lost-1', '--note', 'late')).exitCode).toBe(0)
  })

  test('a person ends it at one provider, or at all', async () => {
    const rig = await marked()
    const acme = await callerOf(rig.gateway)
    const one = await rig.swapgate('ledger', 'mark-restored', '--end', 'alpha', '--note', 'looked through by hand')
    expect([one.exitCode, one.out]).toEqual([0, ['The restore has ended at alpha: what the ledger lacks there is 404.']])
    await rig.gateway.followRestores()
    expect((await acme.create()).status).toBe(201)
    expect(reasonOf(await acme.get('alpha~x'))).toEqual([404, 'not_found'])
    expect(reasonOf(await acme.get('beta~x'))).toEqual(restored503)
    await rig.swapgate('ledger', 'mark-restored', '--end')
    await rig.gateway.followRestores()
    expect(reasonOf(await acme.get('beta~x'))).toEqual([404, 'not_found'])
    expect((await rig.swapgate('ledger', 'mark-restored', '--end')).exitCode).toBe(1)
  })
})

describe('swapgate ledger found assign', () => {
  const assign = (rig: RestoreRig, id: string, account = 'acme') =>
    rig.swapgate('ledger', 'found', 'assign', id, '--account', account, '--unconfirmed', '--no-key', '--note', 'log')

  test('refuses an account, or an order, that is not there, and a second decision', async () => {
    const rig = await marked()
    await callerOf(rig.gateway)
    rig.alpha.holdings.swaps = [lost()]
    await rebuilt(rig)
    expect(await assign(rig, 'alpha~lost-1', 'nobody')).toMatchObject({
      exitCode: 1,
      err: ['swapgate: there is no account nobody'],
    })
    expect(await assign(rig, 'alpha~lost-2')).toMatchObject({ exitCode: 1 })
    expect(await assign(rig, 'lost-1')).toMatchObject({ exitCode: 1 })
    expect((await assign(rig, 'alpha~lost-1')).exitCode).toBe(0)
    expect((await assign(rig, 'alpha~lost-1')).exitCode).toBe(1)
    expect((await rig.swapgate('ledger', 'found', 'dismiss', 'alpha~lost-1', '--note', 'x')).exitCode).toBe(1)
  })

  test('refuses an order that may be the result of a create without an outcome', async () => {
    const rig = await restoreRig()
    const gateway = await rig.start()
    const acme = await callerOf(gateway)
    rig.alpha.reply('create', { reset: true })
    expect((await acme.create({ refundAddress: 'bc1q-refund-1' })).status).toBe(504)
    await rig.swapgate('ledger', 'mark-restored')
    rig.alpha.holdings.swaps = [lost({ createdAt: new Date().toISOString() })]
    await rig.swapgate('ledger', 'rebuild', 'alpha')
    expect(await assign(rig, 'alpha~lost-1')).toMatchObject({
      exitCode: 1,
      err: [expect.stringMatching(/may be the result of the create .*: swapgate ledger resolve .* --bind alpha~lost-1/)],
    })
  })

  test('refuses what nothing can judge: the file lacks its provider', async () => {
    const rig = await marked()
    await callerOf(rig.gateway)
    rig.alpha.holdings.swaps = [lost()]
    await rebuilt(rig)
    const beta = JSON.stringify({ form: 'B', url: rig.beta.url, key: 'provider-key-1' })
    rig.place.write(`providers: { beta: ${beta} }\nrouting: { providers: [beta] }\nauth: { mode: managed }\n`)
    expect(await assign(rig, 'alpha~lost-1')).toMatchObject({
      exitCode: 1,
      err: [expect.stringContaining('alpha is not in the file')],
    })
  })

  test.each(['SQLite', 'PostgreSQL'] as const)(
    'refuses an order that the ledger has got in another way, also after that was pruned, in %s',
    async (store) => {
      const rig = await restoreRig(store)
      const gateway = await rig.start()
      const [acme, other] = [await callerOf(gateway), await callerOf(gateway, 'other')]
      rig.alpha.reply('create', { reset: true })
      expect((await acme.create({ refundAddress: 'bc1q-refund-1' })).status).toBe(504)
      await rig.swapgate('ledger', 'mark-restored')
      const made = lost({ createdAt: new Date().toISOString() })
      rig.alpha.holdings.swaps = [made]
      await rig.swapgate('ledger', 'rebuild', 'alpha')
      const [{ intent = '' } = {}] = await gateway.ledgerAdmin.unresolved()
      expect((await rig.swapgate('ledger', 'resolve', intent, '--bind', 'alpha~lost-1')).exitCode).toBe(0)
      rig.alpha.holdings.swaps = [{ ...made, status: 'success', amountOut: digits('64.5') }]
      expect((await acme.get('alpha~lost-1')).json).toMatchObject({ status: 'success' })
      expect(await gateway.ledgerAdmin.prune(Date.now() + 60_000, 'ops')).toMatchObject({ pruned: 1 })
      expect(await gateway.restores.undecided()).toEqual([])
      expect((await assign(rig, 'alpha~lost-1', 'other')).exitCode).toBe(1)
      await rig.swapgate('ledger', 'mark-restored', '--end', 'beta')
      await gateway.followRestores()
      expect(reasonOf(await other.get('alpha~lost-1'))).toEqual([404, 'not_found'])
      expect((await other.list()).headers).not.toHaveProperty('x-swap-warning')
    },
  )

  test('refuses without the word of the client, and what that contradicts, with what nobody confirms', async () => {
    const rig = await marked()
    await callerOf(rig.gateway)
    rig.alpha.holdings.swaps = [lost()]
    await rebuilt(rig)
    const deciding = (...options: readonly string[]) =>
      rig.swapgate('ledger', 'found', 'assign', 'alpha~lost-1', '--account', 'acme', '--no-key', '--note', 'log', ...options)
    expect((await deciding()).exitCode).toBe(2)
    expect((await deciding('--unconfirmed', '--withdrawal-address', 'TWithdraw1')).exitCode).toBe(2)
    expect(await deciding('--withdrawal-address', 'TAnother')).toMatchObject({
      exitCode: 1,
      err: [expect.stringMatching(/differs in withdrawalAddress; --despite withdrawalAddress does it all the same/)],
    })
    expect(await deciding('--withdrawal-address', 'TAnother', '--despite', 'amountOut')).toMatchObject({ exitCode: 1 })
    expect(await deciding('--withdrawal-address', 'TWithdraw1')).toMatchObject({ exitCode: 0 })
  })

  test('an order is read once more: its owner is told what it is now, or the person that nobody knows', async () => {
    const rig = await marked()
    await callerOf(rig.gateway)
    const orders = ['lost-1', 'lost-2', 'lost-3'].map((id) => lost({ id }))
    rig.alpha.holdings.swaps = orders
    await rebuilt(rig)
    const [first, second] = orders.map((order) => ({ ...order, status: 'overdue' }))
    rig.alpha.holdings.swaps = [first, { ...second, withdrawalAddress: 'TThief' }] as never
    const unread = /could not be read at the provider now: what is known of it is as of 20\d\d-/
    expect((await assign(rig, 'alpha~lost-1')).out.join(' ')).not.toMatch(unread)
    expect(await query(rig.place.ledgerUrl, 'SELECT status FROM transactions')).toEqual([{ status: 'overdue' }])
    const confirmed = ['--account', 'acme', '--withdrawal-address', 'TWithdraw1', '--no-key', '--note', 'log']
    expect(await rig.swapgate('ledger', 'found', 'assign', 'alpha~lost-2', ...confirmed)).toMatchObject({
      exitCode: 1,
      err: [expect.stringMatching(/differs in withdrawalAddress/)],
    })
    expect((await assign(rig, 'alpha~lost-3')).out.join(' ')).toMatch(unread)
  })

  test('of two that assign one order at once one does', async () => {
    const rig = await marked()
    await callerOf(rig.gateway)
    await callerOf(rig.gateway, 'other')
    rig.alpha.holdings.swaps = [lost()]
    await rebuilt(rig)
    const results = await Promise.all([assign(rig, 'alpha~lost-1'), assign(rig, 'alpha~lost-1', 'other')])
    expect(results.map(({ exitCode }) => exitCode).toSorted()).toEqual([0, 1])
  })
})

test('a client that repeats its create gets the order that was assigned to it, not a second swap; another account does not', async () => {
  const rig = await marked()
  const [acme, other] = [await callerOf(rig.gateway), await callerOf(rig.gateway, 'other')]
  rig.alpha.holdings.swaps = [lost({ refundAddress: null })]
  await rebuilt(rig)
  for (const caller of [acme, acme, other]) expect(reasonOf(await caller.create({}, 'order-1'))).toEqual(restored409)
  const assigned = await rig.swapgate(
    ...['ledger', 'found', 'assign', 'alpha~lost-1', '--account', 'acme', '--unconfirmed', '--key', 'order-1', '--note', 'log'],
  )
  expect(assigned.out).toEqual([
    'alpha~lost-1 is now a swap of the account acme.',
    expect.stringContaining('Not confirmed by anybody'),
    'Its create is the one with the key order-1.',
    expect.stringMatching(/^1 other create that waited for it is new from now on: order-1 of other, first at 2\S+Z\.$/),
  ])
  await rig.gateway.followRestores()
  const repeat = await acme.create({}, 'order-1')
  expect([repeat.status, repeat.headers['idempotent-replayed'], repeat.json]).toMatchObject([201, 'true', { id: 'alpha~lost-1' }])
  expect((await acme.create({ amount: digits('0.2') }, 'order-1')).status).toBe(422)
  expect((await other.create({}, 'order-1')).json).not.toMatchObject({ id: 'alpha~lost-1' })
})

test('a key is never found by elimination: no create gets the order but the one that a person names', async () => {
  const rig = await marked()
  const acme = await callerOf(rig.gateway)
  rig.alpha.holdings.swaps = [lost({ refundAddress: null })]
  await rebuilt(rig)
  expect(reasonOf(await acme.create({}, 'order-2'))).toEqual(restored409)
  const list = await rig.swapgate('ledger', 'found', 'list')
  expect(list.out.at(-1)).toMatch(/^alpha~lost-1 may be of the create with the key order-2 of acme, first sent at 2/)
  await rig.swapgate(
    'ledger',
    'found',
    'assign',
    'alpha~lost-1',
    '--account',
    'acme',
    '--unconfirmed',
    '--no-key',
    '--note',
    'it is order-1',
  )
  await rig.gateway.followRestores()
  expect((await acme.create({}, 'order-2')).json).not.toMatchObject({ id: 'alpha~lost-1' })
})

test('an order that differs from what the named create has requested is refused, and is never its response', async () => {
  const rig = await marked()
  const acme = await callerOf(rig.gateway)
  rig.alpha.holdings.swaps = [lost({ refundAddress: null }), lost({ id: 'lost-2', refundAddress: null, amountIn: digits('0.4') })]
  await rebuilt(rig)
  expect(reasonOf(await acme.create({}, 'order-1'))).toEqual(restored409)
  const assign = (id: string, ...options: readonly string[]) =>
    rig.swapgate('ledger', 'found', 'assign', id, '--account', 'acme', '--key', 'order-1', '--note', 'log', ...options)
  for (const confirmed of [['--unconfirmed'], ['--withdrawal-address', 'TWithdraw1']])
    expect(await assign('alpha~lost-2', ...confirmed)).toMatchObject({
      exitCode: 1,
      err: [expect.stringMatching(/differs in amountIn/)],
    })
  expect(reasonOf(await acme.create({}, 'order-1'))).toEqual(restored409)
  expect((await assign('alpha~lost-1', '--unconfirmed')).exitCode).toBe(0)
  expect((await acme.create({}, 'order-1')).json).toMatchObject({ id: 'alpha~lost-1' })
})

test('a key that was never repeated is named too: its create returns the order, and another request with it is 422', async () => {
  const rig = await marked()
  const acme = await callerOf(rig.gateway)
  rig.alpha.holdings.swaps = [lost({ refundAddress: null })]
  await rebuilt(rig)
  await rig.swapgate(
    ...[
      'ledger',
      'found',
      'assign',
      'alpha~lost-1',
      '--account',
      'acme',
      '--unconfirmed',
      '--key',
      'order-1',
      '--note',
      'by its records',
    ],
  )
  await rig.gateway.followRestores()
  expect((await acme.create({ withdrawalAddress: 'TOther1' }, 'order-1')).status).toBe(422)
  expect((await acme.create({}, 'order-1')).json).toMatchObject({ id: 'alpha~lost-1' })
  expect(rig.alpha.received('create')).toEqual([])
})

test('a key that another create has by now is refused', async () => {
  const rig = await marked()
  const acme = await callerOf(rig.gateway)
  rig.alpha.holdings.swaps = [lost()]
  await rebuilt(rig)
  expect((await acme.create({ amount: digits('0.2') }, 'order-1')).status).toBe(201)
  expect(
    await rig.swapgate(
      ...['ledger', 'found', 'assign', 'alpha~lost-1', '--account', 'acme', '--unconfirmed', '--key', 'order-1', '--note', 'log'],
    ),
  ).toMatchObject({ exitCode: 1, err: [expect.stringContaining('another create of acme has the Idempotency-Key order-1')] })
})

test('a key that waits stays 409 whatever is requested with it, until a person has decided', async () => {
  const rig = await marked()
  const acme = await callerOf(rig.gateway)
  rig.alpha.holdings.swaps = [lost({ refundAddress: null })]
  await rebuilt(rig)
  expect(reasonOf(await acme.create({}, 'order-1'))).toEqual(restored409)
  expect(reasonOf(await acme.create({ amount: digits('0.3') }, 'order-1'))).toEqual(restored409)
  const { out } = await rig.swapgate('ledger', 'found', 'dismiss', 'alpha~lost-1', '--note', 'not ours')
  expect(out).toEqual([
    'alpha~lost-1 is dismissed: it is no swap of a client.',
    expect.stringContaining('1 other create that waited for it is new from now on: order-1 of acme'),
  ])
  expect((await acme.create({ amount: digits('0.3') }, 'order-1')).status).toBe(201)
})

test('a dismissal is taken back', async () => {
  const rig = await marked()
  const acme = await callerOf(rig.gateway)
  rig.alpha.holdings.swaps = [lost({ refundAddress: null })]
  await rebuilt(rig)
  await rig.swapgate('ledger', 'found', 'dismiss', 'alpha~lost-1', '--note', 'not ours')
  await rig.gateway.followRestores()
  expect(reasonOf(await acme.get('alpha~lost-1'))).toEqual([404, 'not_found'])
  const dismissed = await rig.swapgate('ledger', 'found', 'list', '--dismissed', '--json')
  expect(JSON.parse(dismissed.out.join(''))).toMatchObject([{ id: 'alpha~lost-1', dismissedAt: expect.any(String) }])
  const undismiss = () => rig.swapgate('ledger', 'found', 'undismiss', 'alpha~lost-1', '--note', 'it is ours')
  expect(await undismiss()).toMatchObject({ exitCode: 0, out: ['alpha~lost-1 waits for a person again.'] })
  expect((await undismiss()).exitCode).toBe(1)
  await rig.gateway.followRestores()
  expect(reasonOf(await acme.get('alpha~lost-1'))).toEqual(restored503)
  expect(reasonOf(await acme.create())).toEqual(restored409)
})

describe('swapgate ledger found unassign', () => {
  const found = (rig: RestoreRig, ...args: readonly string[]) => rig.swapgate('ledger', 'found', ...args, '--note', 'ticket 7')
  const assignedTo = async (account: string, store: 'SQLite' | 'PostgreSQL' = 'SQLite') => {
    const rig = await marked(store)
    const [acme, other] = [await callerOf(rig.gateway), await callerOf(rig.gateway, 'other')]
    rig.alpha.holdings.swaps = [lost({ refundAddress: null })]
    await rebuilt(rig)
    expect((await found(rig, 'assign', 'alpha~lost-1', '--account', account, '--unconfirmed', '--no-key')).exitCode).toBe(0)
    await rig.gateway.followRestores()
    return { ...rig, acme, other }
  }

  test.each(['SQLite', 'PostgreSQL'] as const)(
    'a wrong assignment is taken back, also after it was read, and the right account gets it, in %s',
    async (store) => {
      const rig = await assignedTo('other', store)
      const { acme, other, gateway } = rig
      expect((await other.get('alpha~lost-1')).status).toBe(200)
      expect(await found(rig, 'unassign', 'alpha~lost-1')).toMatchObject({
        exitCode: 0,
        out: ['alpha~lost-1 waits for a person again. other may have seen it: say so there.'],
      })
      await gateway.followRestores()
      for (const caller of [acme, other]) expect(reasonOf(await caller.get('alpha~lost-1'))).toEqual(restored503)
      expect((await other.list()).json).toMatchObject({ data: [] })
      expect(reasonOf(await acme.create())).toEqual(restored409)
      expect((await found(rig, 'assign', 'alpha~lost-1', '--account', 'acme', '--unconfirmed', '--no-key')).exitCode).toBe(0)
      await gateway.followRestores()
      expect((await acme.list()).json).toMatchObject({ data: [{ id: 'alpha~lost-1' }] })
      expect(reasonOf(await other.get('alpha~lost-1'))).toEqual([404, 'not_found'])
      const audit = await rig.place.facts<readonly object[]>('audit')
      expect(audit).toContainEqual(
        expect.objectContaining({
          action: 'order.unassign',
          subject: 'alpha~lost-1',
          before: { account: 'other' },
          after: { note: 'ticket 7' },
        }),
      )
    },
  )

  test('a wrong account that has just read the end of it does not get it again, also where the right one gets it at once', async () => {
    const rig = await marked()
    const other = await callerOf(rig.gateway, 'other')
    rig.alpha.holdings.swaps = [lost({ refundAddress: null, status: 'success', amountOut: digits('64.5') })]
    await rebuilt(rig)
    await found(rig, 'assign', 'alpha~lost-1', '--account', 'other', '--unconfirmed', '--no-key')
    await rig.gateway.followRestores()
    for (let n = 0; n < 2; n++) expect((await other.get('alpha~lost-1')).json).toMatchObject({ status: 'success' })
    expect((await found(rig, 'unassign', 'alpha~lost-1')).exitCode).toBe(0)
    expect(reasonOf(await other.get('alpha~lost-1'))).toEqual([404, 'not_found'])
    const acme = await callerOf(rig.gateway)
    await found(rig, 'assign', 'alpha~lost-1', '--account', 'acme', '--unconfirmed', '--no-key')
    expect(reasonOf(await other.get('alpha~lost-1'))).toEqual([404, 'not_found'])
    expect((await acme.get('alpha~lost-1')).json).toMatchObject({ status: 'success' })
  })

  test('what is assigned is listed with its account', async () => {
    const rig = await assignedTo('acme')
    const list = async () => (await rig.swapgate('ledger', 'found', 'list', '--assigned', '--json')).out.join('')
    expect(JSON.parse(await list())).toMatchObject([{ id: 'alpha~lost-1', account: 'acme', assignedAt: expect.any(String) }])
    await found(rig, 'unassign', 'alpha~lost-1')
    expect(JSON.parse(await list())).toEqual([])
  })

  test.each(['SQLite', 'PostgreSQL'] as const)(
    'a read of the account that ends after it does not bring it back, in %s',
    async (store) => {
      const rig = await assignedTo('other', store)
      const { ledger, restores } = rig.gateway
      const [row] = await query(rig.place.ledgerUrl, 'SELECT owner FROM transactions')
      const owner = String(row?.owner)
      const entry = await ledger.find(owner, 'alpha', 'lost-1')
      if (!entry) throw new Error('It is not assigned.')
      expect((await found(rig, 'unassign', 'alpha~lost-1')).exitCode).toBe(0)
      expect(await ledger.upsert(owner, 'alpha', { ...entry, sequence: 9 }, entry)).toBeUndefined()
      expect((await restores.undecided()).map(({ id }) => id)).toEqual(['lost-1'])
    },
  )

  test.each(['SQLite', 'PostgreSQL'] as const)(
    'the key that returned it is 409 again, until a person binds it to its true order, in %s',
    async (store) => {
      const rig = await marked(store)
      const acme = await callerOf(rig.gateway)
      rig.alpha.holdings.swaps = [lost({ refundAddress: null }), lost({ id: 'lost-2', refundAddress: null })]
      await rebuilt(rig)
      await found(rig, 'assign', 'alpha~lost-1', '--account', 'acme', '--unconfirmed', '--key', 'order-1')
      expect((await found(rig, 'unassign', 'alpha~lost-1')).out).toEqual([
        'alpha~lost-1 waits for a person again. acme may have seen it: say so there.',
        'The Idempotency-Key order-1 of acme is 409 until found assign --key or found free names it.',
        'No response to it had shown a deposit address.',
      ])
      expect(reasonOf(await acme.create({ amount: digits('0.4') }, 'order-1'))).toEqual(restored409)
      expect((await rig.swapgate('ledger', 'found', 'list', '--keys')).out.at(-1)).toMatch(/^acme +order-1 +never shown$/)
      expect((await found(rig, 'assign', 'alpha~lost-2', '--account', 'acme', '--unconfirmed', '--key', 'order-1')).exitCode).toBe(
        0,
      )
      expect((await acme.create({}, 'order-1')).json).toMatchObject({ id: 'alpha~lost-2' })
      expect(rig.alpha.received('create')).toEqual([])
    },
  )

  test.each(['SQLite', 'PostgreSQL'] as const)(
    'nothing is shown under a key whose order is taken back meanwhile, in %s',
    async (store) => {
      const rig = await marked(store)
      await callerOf(rig.gateway)
      rig.alpha.holdings.swaps = [lost({ refundAddress: null })]
      await rebuilt(rig)
      await found(rig, 'assign', 'alpha~lost-1', '--account', 'acme', '--unconfirmed', '--key', 'order-1')
      const [row] = await query(rig.place.ledgerUrl, 'SELECT intent FROM claims')
      const noteShown = () => rig.gateway.ledger.noteShown(String(row?.intent))
      expect((await found(rig, 'unassign', 'alpha~lost-1')).out.at(-1)).toBe('No response to it had shown a deposit address.')
      expect(await noteShown()).toBe(false)
      await found(rig, 'assign', 'alpha~lost-1', '--account', 'acme', '--unconfirmed', '--key', 'order-1')
      const [again] = await query(rig.place.ledgerUrl, 'SELECT intent FROM claims')
      for (let times = 0; times < 2; times++) expect(await rig.gateway.ledger.noteShown(String(again?.intent))).toBe(true)
    },
  )

  test('a person frees the key by its name, and is told that its response had shown the deposit address', async () => {
    const rig = await marked()
    const acme = await callerOf(rig.gateway)
    rig.alpha.holdings.swaps = [lost({ refundAddress: null })]
    await rebuilt(rig)
    await found(rig, 'assign', 'alpha~lost-1', '--account', 'acme', '--unconfirmed', '--key', 'order-1')
    expect((await acme.create({}, 'order-1')).json).toMatchObject({ id: 'alpha~lost-1' })
    const shown = 'A response to it had shown the deposit address of the order: its client may have paid there.'
    expect((await found(rig, 'unassign', 'alpha~lost-1')).out.at(-1)).toBe(shown)
    expect(reasonOf(await acme.create({}, 'order-1'))).toEqual(restored409)
    await found(rig, 'dismiss', 'alpha~lost-1')
    expect(reasonOf(await acme.create({}, 'order-1'))).toEqual(restored409)
    expect((await found(rig, 'free', 'order-1', '--account', 'other')).exitCode).toBe(1)
    expect((await found(rig, 'free', 'order-1', '--account', 'acme')).out).toEqual([
      'The key order-1 of acme is free: its next create is a new one.',
      shown,
    ])
    expect((await acme.create({}, 'order-1')).status).toBe(201)
    expect(rig.alpha.received('create')).toHaveLength(1)
  })

  test('no other command decides about the key: only these say whether its client has seen an address', async () => {
    const rig = await marked()
    const acme = await callerOf(rig.gateway)
    rig.alpha.holdings.swaps = [lost({ refundAddress: null }), lost({ id: 'lost-2', refundAddress: null })]
    await rebuilt(rig)
    await found(rig, 'assign', 'alpha~lost-1', '--account', 'acme', '--unconfirmed', '--key', 'order-1')
    await found(rig, 'unassign', 'alpha~lost-1')
    const [{ intent = '' } = {}] = await rig.gateway.ledgerAdmin.unresolved()
    for (const resolution of [['--none'], ['--bind', 'alpha~lost-2']])
      expect(await rig.swapgate('ledger', 'resolve', intent, ...resolution)).toMatchObject({
        exitCode: 1,
        err: [expect.stringMatching(/taken back: swapgate ledger found list --keys, then found assign --key or found free$/)],
      })
    expect(reasonOf(await acme.create({}, 'order-1'))).toEqual(restored409)
    expect((await rig.gateway.restores.undecided()).map(({ id }) => id)).toEqual(['lost-1', 'lost-2'])
  })

  test('is refused where something was asked for it, or a person has recorded its outcome', async () => {
    const rig = await assignedTo('acme')
    const url = rig.place.ledgerUrl
    await query(
      url,
      `INSERT INTO swap_actions (provider, provider_id, kind, claim, owner, action, state, claimed_at, check_count)
        VALUES ('alpha', 'lost-1', 'refund', 'c', 'o', 'refundTransaction', 'sent', 1, 0)`,
    )
    expect((await found(rig, 'unassign', 'alpha~lost-1')).err).toEqual([expect.stringContaining('a refund, a continuation')])
    await query(url, 'DELETE FROM swap_actions', "UPDATE transactions SET settled_at = 1, status = 'refunded'")
    expect((await found(rig, 'unassign', 'alpha~lost-1')).err).toEqual([expect.stringContaining('has recorded its outcome')])
  })

  test('is refused for what waits, was dismissed, or was never found', async () => {
    const rig = await marked()
    rig.alpha.holdings.swaps = [lost()]
    await rebuilt(rig)
    for (const id of ['alpha~lost-1', 'alpha~never', 'lost-1'])
      expect(await found(rig, 'unassign', id)).toMatchObject({
        exitCode: 1,
        err: [`swapgate: no found order with the id ${id} is assigned`],
      })
    await found(rig, 'dismiss', 'alpha~lost-1')
    expect((await found(rig, 'unassign', 'alpha~lost-1')).exitCode).toBe(1)
  })

  test('of two at once one takes it back', async () => {
    const rig = await assignedTo('acme', 'PostgreSQL')
    const results = await Promise.all([found(rig, 'unassign', 'alpha~lost-1'), found(rig, 'unassign', 'alpha~lost-1')])
    expect(results.map(({ exitCode }) => exitCode).toSorted()).toEqual([0, 1])
  })
})

test('usage: only --end takes providers and a note', async () => {
  const rig = await restoreRig()
  await (await rig.start()).close()
  for (const args of [['alpha'], ['--note', 'x'], ['--end', '--since', '2026-11-20'], ['--actions', '--end']])
    expect((await rig.swapgate('ledger', 'mark-restored', ...args)).exitCode).toBe(2)
  expect((await rig.swapgate('ledger', 'rebuild')).exitCode).toBe(2)
  expect((await rig.swapgate('ledger', 'found', 'assign', 'alpha~x', '--no-key', '--unconfirmed')).exitCode).toBe(2)
  expect((await rig.swapgate('ledger', 'found', 'assign', 'alpha~x', '--unconfirmed', '--note', 'x')).exitCode).toBe(2)
  expect((await rig.swapgate('ledger', 'found', 'assign', 'alpha~x', '--no-key', '--note', 'x')).exitCode).toBe(2)
})

test('a ledger that is not there is refused', async () => {
  const rig = await restoreRig()
  expect(await rig.swapgate('ledger', 'mark-restored')).toMatchObject({
    exitCode: 1,
    err: [expect.stringContaining('does not exist')],
  })
})

test("with the provider's own keys there is nothing to mark", async () => {
  const rig = await restoreRig()
  await (await rig.start()).close()
  rig.place.write(`providers: { alpha: { form: A, url: "${rig.alpha.url}" } }\nrouting: { providers: [alpha] }\n`)
  expect(await rig.swapgate('ledger', 'mark-restored')).toMatchObject({
    exitCode: 1,
    err: [expect.stringContaining('passthrough')],
  })
})
