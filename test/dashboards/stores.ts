/** What goes wrong with ledgers, with Redis, and with the processes themselves. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Event, nothing, repeating, together } from './event.ts'
import type { Site, World } from './world.ts'

export const lockedLedger: Event = {
  name: 'another process keeps the ledger locked, again and again',
  alerts: ['SwapgateLedgerSlow', 'SwapgateAddedLatencyBurnFast'],
  panels: ['Overview: Firing alerts'],
  async cause(world) {
    const { gateway, customers } = world.gamma
    const other = ledgerOf(world.gamma)
    const lift = repeating(200, async () => {
      other.exec('BEGIN IMMEDIATE')
      const waiting = together(20, () => customers[0].create(gateway.url, world.order()))
      await delay(1_500)
      other.exec('COMMIT')
      await waiting
    })
    return async () => {
      await lift()
      other.close()
    }
  },
}

export const lostTables: Event = {
  name: 'every ledger loses its table',
  alerts: ['SwapgateLedgerFailing', 'SwapgateReconciliationStuck'],
  panels: ['Transactions: Failures of the ledger'],
  async cause(world) {
    await onLedgers(world, 'ALTER TABLE transactions RENAME TO gone')
    return () => onLedgers(world, 'ALTER TABLE gone RENAME TO transactions')
  },
}

export const readOnlyLedger: Event = {
  name: 'PostgreSQL takes no writes',
  alerts: ['SwapgateLedgerMisconfigured'],
  panels: ['Transactions: Troubles of the ledger'],
  async cause(world) {
    const { ledgerUrl, alpha } = world
    const database = new URL(ledgerUrl).pathname.slice(1)
    const set = async (statement: string): Promise<void> => {
      const client = new pg.Client({ connectionString: ledgerUrl, options: '-c default_transaction_read_only=off' })
      await client.connect()
      await client.query(`ALTER DATABASE ${database} ${statement}`)
      await client.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      )
      await client.end()
    }
    await set('SET default_transaction_read_only = on')
    const lift = repeating(200, () => alpha.customers[0].create(alpha.gateway.url, world.order()))
    return async () => {
      await lift()
      await set('RESET default_transaction_read_only')
    }
  },
}

export const lostRedis: Event = {
  name: 'Redis dies',
  alerts: ['SwapgateLimitsLocal'],
  panels: ['Limits and budgets: Troubles of Redis'],
  async cause({ redis }) {
    await redis.kill()
    return () => redis.start()
  },
}

export const lostReplica: Event = {
  name: 'one replica dies',
  alerts: ['SwapgateReplicaDown'],
  async cause({ gamma }) {
    await gamma.gateway.kill()
    return nothing
  },
}

export const lostGateway: Event = {
  name: 'all replicas die',
  alerts: ['SwapgateDown'],
  async cause({ sites }) {
    await Promise.all(sites.map(({ gateway }) => gateway.kill()))
    return nothing
  },
}

async function onLedgers({ ledgerUrl, beta, gamma }: World, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: ledgerUrl })
  await client.connect()
  await client.query(statement)
  await client.end()
  for (const site of [beta, gamma]) {
    using ledger = ledgerOf(site)
    ledger.exec(statement)
  }
}

function ledgerOf({ directory }: Site): DatabaseSync {
  return new DatabaseSync(join(directory, 'ledger.db'), { timeout: 5_000 })
}
