// Takes long: gateways and commands in processes of their own, which are killed.
/** docs/contract-operators.md §15: an operator does on the command line what the owner of a swap may do about it, once for both. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { otherAddress, refundAddress } from '../actions/rig.ts'
import { type ActingProvider, type BegunSwap, startTwoGateways, type TwoGateways } from '../actions/two-gateways.ts'
import { Swapgate } from '../process/swapgate.ts'
import type { Action } from '../providers/stand-ins/exchange.ts'
import { type CommandResult, runCommand } from '../support/command.ts'

let world: TwoGateways
beforeAll(async () => {
  world = await startTwoGateways()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

const held = { status: 'verifying', hasActions: true }
const note = ['--note', 'ticket 7']

async function begin(at: ActingProvider, state: object = {}, facts: object = {}): Promise<BegunSwap> {
  const swap = await world.begin(at, facts)
  Object.assign(swap.swap, state)
  return swap
}

const configured = () => ['--config', world.gateways[0].file]
const transactions = (action: string, { id }: Pick<BegunSwap, 'id'>, ...options: readonly string[]): Promise<CommandResult> =>
  runCommand(['transactions', action, id, ...options, ...configured()])
const sent = ({ at, swap: { id } }: BegunSwap, action: Action): number =>
  world.exchanges[at].received(action).filter(({ path, body }) => path.includes(id) || body.includes(id)).length

async function refusalOf(running: Promise<CommandResult>): Promise<string> {
  const { exitCode, out, err } = await running
  expect([exitCode, out]).toEqual([1, []])
  return err.join('\n')
}

it('a refund is sent once, its client gets it, and it is in the audit log', async () => {
  const swap = await begin('changenow', held)
  const to = ['--address', refundAddress]
  const { exitCode, out } = await transactions('refund', swap, ...to, ...note)
  expect([exitCode, out]).toEqual([0, ['The provider has taken it.', 'The client acme gets the status refunded.']])
  const page = readFileSync('docs/reconciliation.md', 'utf8')
  expect(page).toContain([`--address ${refundAddress} --note "ticket 7"`, ...out, '```'].join('\n'))
  expect((await world.read(swap)).json).toMatchObject({ status: 'refunded', refundAddress })
  expect((await world.act(swap, 'refund', { address: refundAddress }))?.headers['idempotent-replayed']).toBe('true')
  expect((await transactions('refund', swap, ...to, ...note)).out[0]).toBe('It was done before, and nothing was sent.')
  const printed = await transactions('refund', swap, ...note, '--json')
  expect(JSON.parse(printed.out.join(''))).toMatchObject({ id: swap.id, account: 'acme', status: 'refunded', isRepeated: true })
  expect(sent(swap, 'refund')).toBe(1)
  const audited = (await world.gateways[0].command('audit')) as readonly { readonly subject: string }[]
  expect(audited.filter(({ subject }) => subject === swap.id)).toMatchObject([
    {
      actor: expect.stringMatching(/^cli:.+@.+/),
      action: 'transaction.refund',
      after: { refundAddress: '0x5290…9EE7', note: 'ticket 7' },
    },
  ])
})

it('a held swap goes on, and a refund address is set, also while no gateway runs', async () => {
  const [continued, addressed] = [await begin('changenow', held), await begin('sideshift', { status: 'refund' })]
  await Promise.all(world.gateways.map((gateway) => gateway.kill()))
  expect((await transactions('continue', continued, ...note)).out).toEqual([
    'The provider has taken it.',
    'The client acme gets the status exchanging.',
  ])
  expect((await transactions('refund-address', addressed, '--address', refundAddress, ...note)).exitCode).toBe(0)
  await Promise.all(world.gateways.map((gateway) => gateway.start()))
  expect((await world.read(continued)).json).toMatchObject({ status: 'exchanging' })
  expect((await world.read(addressed)).json).toMatchObject({ refundAddress })
  expect([sent(continued, 'continue'), sent(addressed, 'refundAddress')]).toEqual([1, 1])
}, 60_000)

it('what the owner would be refused is refused, and nothing is sent', async () => {
  const swap = await begin('changenow', held)
  const own = await begin('changenow', held, { refundAddress })
  const plain = await begin('sideshift', {}, { refundAddress })
  expect(await refusalOf(transactions('refund', { id: 'changenow~nothing' }, ...note))).toBe(
    'swapgate: the ledger has no transaction changenow~nothing',
  )
  expect(await refusalOf(transactions('refund', swap, ...note))).toContain('--address: it is missing')
  expect(await refusalOf(transactions('refund', swap, '--address', 'none-of-ethereum', ...note))).toContain('--address: ')
  expect(await refusalOf(transactions('refund', swap, '--address', swap.swap.deposit, ...note))).toContain('deposit address')
  expect(await refusalOf(transactions('refund', swap, '--extra-id', '7', ...note))).toContain('--extra-id: it stands beside')
  expect(await refusalOf(transactions('refund', own, '--address', otherAddress, ...note))).toContain('never changed')
  expect(await refusalOf(transactions('refund-address', plain, '--address', otherAddress, ...note))).toContain('never changed')
  expect(await refusalOf(transactions('continue', plain, ...note))).toContain('does not offer this')
  const off = await runCommand(['providers', 'off', 'sideshift', '--force', ...configured()])
  expect(off.exitCode).toBe(0)
  expect((await transactions('refund', plain, ...note)).exitCode).toBe(1)
  expect((await runCommand(['providers', 'activate', 'sideshift', '--force', ...configured()])).exitCode).toBe(0)
  expect([sent(swap, 'refund'), sent(own, 'refund'), sent(plain, 'refund'), sent(plain, 'refundAddress')]).toEqual([0, 0, 0, 0])
})

it.each([
  ['without a note', ['refund', 'changenow~x']],
  ['without the address that is set', ['refund-address', 'sideshift~x', ...note]],
  ['with an address to which nothing is sent', ['continue', 'changenow~x', '--address', refundAddress, ...note]],
])('%s it is wrong usage', async (_, args) => {
  expect((await runCommand(['transactions', ...args, ...configured()])).exitCode).toBe(2)
})

it('of commands and requests of the owner at once, one is sent', async () => {
  const swap = await begin('changenow', held)
  const commands = Array.from({ length: 4 }, () => transactions('refund', swap, '--address', refundAddress, ...note))
  const requests = Array.from({ length: 4 }, () => world.act(swap, 'refund', { address: refundAddress }))
  const exitCodes = (await Promise.all(commands)).map(({ exitCode }) => exitCode)
  const statuses = (await Promise.all(requests)).map((response) => response?.status)
  expect(sent(swap, 'refund')).toBe(1)
  expect(exitCodes.includes(0) || statuses.includes(200)).toBe(true)
  for (const status of statuses) expect([200, 409]).toContain(status)
})

it('one of unknown outcome is sent again only by force', async () => {
  const swap = await begin('sideshift', { status: 'refund' })
  world.exchanges.sideshift.losesNextAction = 'before'
  const to = ['--address', refundAddress, ...note]
  expect(await refusalOf(transactions('refund-address', swap, ...to))).toContain('The outcome is unknown')
  expect(await refusalOf(transactions('refund-address', swap, ...to))).toContain('--force sends it again')
  expect(sent(swap, 'refundAddress')).toBe(1)
  expect((await transactions('refund-address', swap, ...to, '--force')).exitCode).toBe(0)
  expect(sent(swap, 'refundAddress')).toBe(2)
})

it('what a command had sent when it was killed is found by a gateway, and its owner told', async () => {
  const swap = await begin('changenow', held)
  world.exchanges.changenow.tamper = (operation, reply) =>
    operation === 'refund' ? { ...reply, after: new Promise(() => {}) } : undefined
  await using command = new Swapgate(['transactions', 'refund', swap.id, '--address', refundAddress, ...note, ...configured()])
  await expect.poll(() => sent(swap, 'refund'), { timeout: 20_000, interval: 20 }).toBe(1)
  command.child.kill('SIGKILL')
  await command.ended
  world.exchanges.changenow.tamper = () => undefined
  expect((await transactions('refund', swap, '--address', refundAddress, ...note, '--force')).exitCode).toBe(1)
  await world.age()
  const repeated = () => world.act(swap, 'refund', { address: refundAddress })
  await expect.poll(async () => (await repeated())?.status, { interval: 200 }).toBe(200)
  expect((await repeated())?.json).toMatchObject({ status: 'refunded' })
  expect(sent(swap, 'refund')).toBe(1)
}, 60_000)
