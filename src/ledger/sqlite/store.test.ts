import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { expect, it, onTestFinished, vi } from 'vitest'
import { memoryStores } from './store.ts'

it('a store whose making fails is made again for the next call, and its database is closed', async () => {
  const copied: DatabaseSync[] = []
  const serialize = vi.spyOn(DatabaseSync.prototype, 'serialize').mockImplementationOnce(function (this: DatabaseSync) {
    copied.push(this)
    throw new Error('out of memory')
  })
  onTestFinished(() => serialize.mockRestore())
  const open = memoryStores()
  const failed = await Promise.allSettled([open(), open()])
  expect(failed.map((result) => result.status === 'rejected' && result.reason.message)).toEqual(['out of memory', 'out of memory'])
  expect(copied.map(({ isOpen }) => isOpen)).toEqual([false])
  const store = await open()
  onTestFinished(store.close)
  expect((await sql`select 1 from transactions`.execute(store.database)).rows).toEqual([])
})

it('no store has the rows of another, or of those that are closed', async () => {
  const open = memoryStores()
  const providersOf = async ({ database }: Awaited<ReturnType<typeof open>>) =>
    (await sql<{ tag: string }>`select tag from providers`.execute(database)).rows.map(({ tag }) => tag)
  const [first, second] = await Promise.all([open(), open()])
  await first.write(
    async (within) => void (await sql`insert into providers (tag, form, url) values ('alpha', 'A', 'x')`.execute(within)),
  )
  const third = await open()
  expect(await Promise.all([first, second, third].map(providersOf))).toEqual([['alpha'], [], []])
  await first.close()
  await second.write(
    async (within) => void (await sql`insert into providers (tag, form, url) values ('beta', 'B', 'y')`.execute(within)),
  )
  const fourth = await open()
  expect(await Promise.all([second, third, fourth].map(providersOf))).toEqual([['beta'], [], []])
  await Promise.all([second, third, fourth].map(({ close }) => close()))
})

it('its clock starts when it is opened, not when the first one was made', async () => {
  const serialize = vi.spyOn(DatabaseSync.prototype, 'serialize').mockImplementationOnce(function (this: DatabaseSync) {
    this.exec('UPDATE clock SET time = 1')
    return this.serialize()
  })
  onTestFinished(() => serialize.mockRestore())
  const before = Date.now()
  const { clock, close } = await memoryStores()()
  await clock.start()
  expect(clock.read()).toBeGreaterThan(before - 2_000)
  await close()
})
