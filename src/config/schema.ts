/** The configuration (docs/contract.md §9): one strict schema. Every scalar of the file is text here. */
import { z } from 'zod'
import { auth, limits } from './schema/clients.ts'
import { log, telemetry } from './schema/monitoring.ts'
import { admin, server } from './schema/ports.ts'
import { provider } from './schema/provider.ts'
import { routing } from './schema/routing.ts'
import { sandbox } from './schema/sandbox.ts'
import { required, setting } from './schema/setting.ts'
import { cache, ledger, redis } from './schema/stores.ts'
import { flag, mapping, name } from './value-types.ts'

const shape = {
  server,
  admin,
  defaultForm: setting(name, 'A', 'The form of a request that does not name one: `A`, `B` or another form of clients'),
  docs: setting(flag, true, 'Whether `/docs` and the `openapi.json` of each form are served'),
  auth,
  redis,
  ledger,
  limits,
  cache,
  assets: setting(name, 'assets.yaml', 'File of the asset table, relative to this file'),
  providers: required(mapping(provider), 'The providers behind the gateway, each under a name of your choice.'),
  routing,
  log,
  telemetry,
  sandbox,
}

/** The configuration file. */
export const schema = z.strictObject(shape, 'the file must be a mapping')

export type Settings = z.output<typeof schema>
export type ProviderSettings = Settings['providers'][string]
