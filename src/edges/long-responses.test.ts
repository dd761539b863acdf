import { expect, it } from 'vitest'
import { callProvider } from '../../test/golden-providers/connected.ts'
import { letsexchange } from '../forms/letsexchange.ts'
import { sideshift } from '../forms/sideshift.ts'

const list = { op: 'listCurrencies', key: undefined, fields: { page: 1, size: 100 } } as const
const settings = { affiliateId: 'x' }
const eth = { code: 'ETH', name: 'Ethereum', icon: '', networks: [{ code: 'ETH' }] }
const manyNetworks = Array.from({ length: 199_000 }, (_, at) => at.toString(36))

/** The response to a call, and the most processor time, in milliseconds, that it took before others had their turn. */
async function blocked(form: typeof sideshift, request: Parameters<typeof callProvider>[1], body: string, status = 200) {
  let worst = 0
  let last = process.threadCpuUsage()
  let isOver = false
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last)
    worst = Math.max(worst, (user + system) / 1_000)
    last = process.threadCpuUsage()
    if (!isOver) setImmediate(look)
  }
  look()
  const { outcome, drift } = await callProvider(form, request, settings, () => ({ status, headers: {}, body }))
  look()
  isOver = true
  return { outcome, drift, worst }
}

it.each([
  ['a coin with very many networks', sideshift, [{ coin: 'BTC', name: 'Bitcoin', networks: manyNetworks }]],
  ['escapes', letsexchange, [{ ...eth, code: 'BTC', icon: '\\'.repeat(4_000_000) }]],
  ['quotes', letsexchange, [{ ...eth, code: 'BTC', icon: '"'.repeat(4_000_000) }]],
  ['brackets in texts', letsexchange, [{ ...eth, code: 'BTC', icon: ']"}'.repeat(1_000_000) }]],
  ['spaces', letsexchange, `[{"code":"BTC",${' '.repeat(4_000_000)}"networks":[]}]`],
])('a row of more than 64 KiB of %s is dropped and counted, before it is read', async (_, form, rows) => {
  const good = form === sideshift ? { coin: 'ETH', name: 'Ethereum', networks: ['ethereum'] } : eth
  const long = typeof rows === 'string' ? rows : JSON.stringify(rows)
  const body = `${long.slice(0, -1)},${JSON.stringify(good)}]`
  const { outcome, drift, worst } = await blocked(form, list, body)
  expect(outcome).toMatchObject({ body: { items: [{ coin: 'ETH' }], dropped: 1 } })
  expect(drift).toEqual(['_other badRow'])
  expect(worst).toBeLessThan(250)
})

it('a list of 8 MB leaves others their turn', async () => {
  const rows = Array.from({ length: 9_000 }, (_, at) => ({
    ...eth,
    code: `C${at}`,
    icon: 'y\\'.repeat(60),
    name: 'x'.repeat(600),
  }))
  const { outcome, worst } = await blocked(letsexchange, list, JSON.stringify(rows))
  expect(outcome).toMatchObject({ body: { total: 9_000 } })
  expect(worst).toBeLessThan(250)
})

it('a list of more assets than any provider has is not read to its end', async () => {
  const rows = Array.from({ length: 30 }, (_, at) => ({ coin: `C${at}`, name: 'C', networks: manyNetworks.slice(0, 6_000) }))
  const { outcome } = await blocked(sideshift, list, JSON.stringify(rows))
  expect(outcome).toMatchObject({ fault: { kind: 'unreadable' } })
})

it.each([
  ['a text that patterns take long to search', { error: { message: 'quote '.repeat(330_000) } }],
  ['very many texts', { errors: Array.from({ length: 190_000 }, (_, at) => `no ${at}`) }],
])('an error with %s leaves others their turn', async (_, error) => {
  const pair = { coinFrom: 'BTC', networkFrom: 'bitcoin', coinTo: 'ETH', networkTo: 'ethereum' }
  const quote = { op: 'getRate', key: undefined, fields: { ...pair, amountIn: '1', rateType: 'fixed' } } as const
  const { outcome, worst } = await blocked(sideshift, quote, JSON.stringify(error), 400)
  expect(outcome).toMatchObject({ fault: { kind: 'invalid' } })
  expect(worst).toBeLessThan(250)
})
