/**
 * docs/contract.md §10: gateways behind a balancer are killed at random instants while they create. No create is doubled at the provider,
 * and what became of one whose client got no answer can be found out: by its `Idempotency-Key`, in the list, and in `ledger unknown`.
 */
import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readJournal } from '../checker/provider/journal.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { rounds } from '../support/rounds.ts'
import { balancerNames } from './balancers.ts'
import { type Site, startSite } from './site.ts'

const kills = Number(process.env.SWAPGATE_RUNS ?? rounds(1, 4))
const createsPerKill = 12
const path = '/a/api/v2/transactions'

/** Seconds. Five after it a create of a killed gateway is searched for, and that search decides what became of it. */
const timeout = rounds(2, 10)
const searchedOnce = { ofProvider: { timeout }, ofLedger: { reconcileFor: timeout + 4 } }

interface Create {
  readonly withdrawalAddress: string
  readonly idempotencyKey: string | undefined
  readonly version: string
}

interface Ended extends Create {
  /** 0 without a response. */
  readonly status: number
}

test.each(balancerNames.slice(0, rounds(1, balancerNames.length)))(
  'behind %s a create whose gateway is killed at any instant is made once at most, and its outcome can be found out',
  { timeout: 300_000 + kills * 30_000 },
  async (name) => {
    await using site = await startSite(name, searchedOnce)
    const ended: Ended[] = []
    for (let round = 0; round < kills; round++) ended.push(...(await killWhileCreating(site, round)))
    const [made, refused, unknown] = [[201], [503], [0, 502, 504]].map((some) =>
      ended.filter(({ status }) => some.includes(status)),
    )
    console.info(`${kills} kills behind ${name}`, { made: made?.length, refused: refused?.length, unknown: unknown?.length })
    expect(ended.filter((create) => ![made, refused, unknown].some((some) => some?.includes(create)))).toEqual([])
    expect(unknown?.length).toBeGreaterThan(0)

    const applied = appliedAt(site)
    const shown = [...(await unresolved(site)), ...(await listed(site))]
    expect(unknown?.filter(({ withdrawalAddress: to }) => applied.includes(to) && !shown.includes(to))).toEqual([])
    expect(refused?.filter(({ withdrawalAddress }) => applied.includes(withdrawalAddress))).toEqual([])

    const repeated = unknown?.filter(({ idempotencyKey }) => idempotencyKey !== undefined) ?? []
    await Promise.all(repeated.map((create) => repeatUntilMade(site, create)))
    await expect.poll(() => unresolved(site), { timeout: eventTimeoutMs, interval: 250 }).toEqual([])
    const held = appliedAt(site)
    expect((await listed(site)).toSorted()).toEqual(held.toSorted())
    expect(held.length).toBe(new Set(held).size)
    expect([...(made ?? []), ...repeated].filter(({ withdrawalAddress }) => !held.includes(withdrawalAddress))).toEqual([])
  },
)

/** One gateway or both are killed, and start again at once. */
async function killWhileCreating(site: Site, round: number): Promise<readonly Ended[]> {
  const { gateways, provider } = site
  const before = appliedAt(site).length
  await provider.fault({ times: createsPerKill, delay: 500 })
  const creating = Array.from({ length: createsPerKill }, async (_, at) => {
    await delay(Math.random() * 500)
    return await createWithCurl(site, {
      withdrawalAddress: `0xkilled${round}x${at}`,
      idempotencyKey: at % 2 ? `key-${round}-${at}` : undefined,
      version: at % 4 < 2 ? '--http2' : '--http1.1',
    })
  })
  let isOver = false
  const ending = Promise.all(creating).finally(() => {
    isOver = true
  })
  await expect.poll(() => isOver || appliedAt(site).length > before + 3, { timeout: eventTimeoutMs, interval: 10 }).toBe(true)
  await delay(Math.random() * 300)
  const killed = round % 2 === 1 ? gateways : [gateways[Math.random() < 0.5 ? 0 : 1]]
  await Promise.all(
    killed.map(async (gateway) => {
      await gateway.kill()
      await gateway.start()
    }),
  )
  const ended = await ending
  await provider.heal()
  await expect.poll(async () => (await site.send('/a/api/v2/currencies?size=1')).status, { timeout: eventTimeoutMs }).toBe(200)
  return ended
}

/** The withdrawal addresses of what the provider has made. */
function appliedAt({ provider }: Site): readonly string[] {
  return readJournal(provider.settings.journal).flatMap((entry) => (entry.what === 'applied' ? entry.swap.withdrawalAddress : []))
}

/** The same of the creates that an operator sees. */
async function unresolved({ gateways: [gateway] }: Site): Promise<readonly string[]> {
  const creates = (await gateway.command('ledger', 'unknown')) as readonly { readonly requested: Create }[]
  return creates.map(({ requested }) => requested.withdrawalAddress)
}

/** The same of the swaps that the client sees. */
async function listed({ send }: Site): Promise<readonly string[]> {
  const all: string[] = []
  for (let page = 1; ; page++) {
    const { text } = await send(`${path}?page=${page}&size=100`)
    const { data, count } = JSON.parse(text) as { readonly data: readonly Create[]; readonly count: number }
    all.push(...data.map(({ withdrawalAddress }) => withdrawalAddress))
    if (data.length === 0 || all.length >= count) return all
  }
}

/** The response is of the one swap that the provider has for the create. */
async function repeatUntilMade({ send, provider }: Site, { withdrawalAddress, idempotencyKey = '' }: Create): Promise<void> {
  const headers = { 'idempotency-key': idempotencyKey }
  let text = ''
  const repeat = async () => {
    const response = await send(path, { method: 'POST', headers, body: bodyOf(withdrawalAddress) })
    text = response.text
    return response.status
  }
  await expect.poll(repeat, { timeout: 2 * eventTimeoutMs, interval: 250 }).toBe(201)
  const made = readJournal(provider.settings.journal).flatMap((entry) =>
    entry.what === 'applied' && entry.swap.withdrawalAddress === withdrawalAddress ? entry.swap.depositAddress : [],
  )
  expect(made).toEqual([(JSON.parse(text) as { depositAddress: string }).depositAddress])
}

function bodyOf(withdrawalAddress: string): string {
  return JSON.stringify({ coinFrom: 'XRP', coinTo: 'USDTERC20', amount: 1, rateType: 'float', withdrawalAddress })
}

/** Its connection has carried a read before. */
async function createWithCurl({ balancer, key }: Site, create: Create): Promise<Ended> {
  const { withdrawalAddress, idempotencyKey, version } = create
  const common = ['--silent', '--insecure', version, '--max-time', '20', '--output', '/dev/null']
  const headers = [`Authorization: Bearer ${key}`, 'Content-Type: application/json']
  if (idempotencyKey !== undefined) headers.push(`Idempotency-Key: ${idempotencyKey}`)
  const args = [
    ...common,
    `${balancer.url}/a/api/v2/currencies?size=1`,
    '--next',
    ...common,
    '--write-out',
    '%{http_code}',
    ...headers.flatMap((header) => ['--header', header]),
    '--data',
    bodyOf(withdrawalAddress),
    balancer.url + path,
  ]
  const stdout = await new Promise<string>((resolve) => execFile('curl', args, (_, text) => resolve(text)))
  return { ...create, status: Number(stdout) }
}
