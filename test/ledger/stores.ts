/** Every store of a ledger; each passes the same tests. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished } from 'vitest'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { copyLedger } from '../support/bundle.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { wrongPageIndex } from './raw.ts'
import { beginTest } from './samples.ts'

/** Where stores are made; what was made is gone in the end. */
export interface Site {
  /** The URL of a new empty store. */
  readonly createStore: () => Promise<string>
  /** The URL of a new store with the schema. */
  readonly createLedger: () => Promise<string>
  readonly close: () => Promise<void>
}

export type StoreName = 'SQLite in a file' | 'SQLite in memory' | 'PostgreSQL'

const sites: Readonly<Record<StoreName, () => Promise<Site>>> = {
  'SQLite in a file': async () => fileSite(),
  'SQLite in memory': async () => memorySite(),
  PostgreSQL: postgresSite,
}

export function openSite(name: StoreName): Promise<Site> {
  return sites[name]()
}

function fileSite(): Site {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-ledger-'))
  const newFile = (): string => join(directory, randomUUID(), 'ledger.db')
  return {
    createStore: async () => `sqlite:${newFile()}`,
    async createLedger() {
      const file = newFile()
      copyLedger(file)
      return `sqlite:${file}`
    },
    close: async () => rmSync(directory, { recursive: true, force: true }),
  }
}

function memorySite(): Site {
  const create = async (): Promise<string> => 'sqlite::memory:'
  return { createStore: create, createLedger: create, close: async () => {} }
}

async function postgresSite(): Promise<Site> {
  const server: Postgres = await startPostgres()
  return { createStore: server.createDatabase, createLedger: server.createLedger, close: server.close }
}

/** What the tests of one store share: tests keep apart by their owners and providers, or open a store of their own. */
export interface Shared extends OpenLedger {
  readonly url: string
  /** A new store that ends with the test. */
  readonly openNew: () => Promise<OpenLedger & { readonly url: string }>
  /** The URL of a new empty store. */
  readonly createStore: Site['createStore']
}

/** The same tests for every store, whose clock is `Date`. After each its page index is right. */
export function describeStores(names: readonly StoreName[], tests: (shared: () => Shared) => void): void {
  describe.each(names)('%s', (name) => {
    let site: Site
    let shared: Shared
    const open = async () => {
      const url = await site.createLedger()
      return { ...(await openLedger(url, { now: () => Date.now() })), url }
    }
    beforeAll(async () => {
      site = await openSite(name)
      shared = { ...(await open()), openNew, createStore: site.createStore }
    })
    beforeEach(beginTest)
    const openNew = async () => {
      const opened = await open()
      onTestFinished(opened.close)
      return opened
    }
    afterAll(async () => {
      if (name !== 'SQLite in memory') expect(await wrongPageIndex(shared.url)).toEqual([])
      await shared.close()
      await site.close()
    })
    tests(() => shared)
  })
}

export const allStores: readonly StoreName[] = ['SQLite in a file', 'SQLite in memory', 'PostgreSQL']
/** Those that several processes can share. */
export const durableStores: readonly StoreName[] = ['SQLite in a file', 'PostgreSQL']
