// Runs alone: four gateways share the machine with their load.
import { afterAll, describe } from 'vitest'
import { openSite } from './stores.ts'
import { describeUpgrades } from './upgrades.ts'

const site = await openSite('PostgreSQL')
afterAll(() => site.close())

describe('postgres', () => describeUpgrades('postgres', site))
