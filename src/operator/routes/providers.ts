import { z } from 'zod'
import {
  type ChangeResult,
  changeRouting,
  changeState,
  type Refusal,
  resetOverrides,
  routingReport,
} from '../../core/operations/change.ts'
import { providerStatus, type StatusReport } from '../../core/operations/provider-status.ts'
import { Fault } from '../../domain/fault.ts'
import { providerStates } from '../../domain/service.ts'
import { ok, type Route, refused, route, sentence } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

const mirror = z.strictObject({ provider: z.string(), sample: z.number() }).nullable()
const force = z.boolean().default(false)

export function providerRoutes({ stores, file, follow }: OperatorParts): readonly Route[] {
  const ports = () => ({ file: file(), overrides: stores.overrides, ledgerAdmin: stores.ledgerAdmin })
  const status = (): Promise<StatusReport> => providerStatus(file(), stores)
  /** This process follows at once, the others within 5 s. */
  const accept = async (change: Promise<ChangeResult>): Promise<void> => {
    const result = await change
    if (result.outcome !== 'done') throw refusal(result)
    await follow().catch(() => undefined) // The change is stored: the next poll applies it.
  }
  const oneOf = async (name: string) => {
    const found = (await status()).providers.find((provider) => provider.name === name)
    if (!found) throw noProvider(name)
    return ok(found)
  }
  const routing = async () => ok(routingReport(await status(), file()))
  return [
    route({
      method: 'get',
      path: '/api/providers',
      summary: 'Every provider as it is now, as `swapgate providers status --json` has it.',
      handle: async () => ok(await status()),
    }),
    route({
      method: 'get',
      path: '/api/providers/:name',
      summary: 'One of them.',
      handle: ({ parameter }) => oneOf(parameter),
    }),
    route({
      method: 'patch',
      path: '/api/providers/:name',
      summary:
        'Overrides the state of a provider. 409 where it needs `force`: it leaves no provider for new swaps, or open transactions unread.',
      body: z.strictObject({ state: z.enum(providerStates), force }),
      takesForce: true,
      async handle({ parameter, body, actor }) {
        await accept(changeState(ports(), parameter, body.state, { force: body.force, actor }))
        return oneOf(parameter)
      },
    }),
    route({
      method: 'get',
      path: '/api/routing',
      summary: 'Strategy, providers, weights, mirror and states: in force, and in the file.',
      handle: routing,
    }),
    route({
      method: 'patch',
      path: '/api/routing',
      summary: 'Overrides the weights (of every routed provider) and the mirror (`null`: none), both or none.',
      body: z.strictObject({
        weights: z.record(z.string(), z.number()).optional(),
        mirror: mirror.optional(),
        shadow: mirror.optional().describe('The earlier name of `mirror`.'),
        force,
      }),
      takesForce: true,
      async handle({ body, actor }) {
        const { weights, mirror, shadow, force } = body
        if (mirror !== undefined && shadow !== undefined)
          throw new Fault('invalid', 'shadow is now called mirror: send only mirror.', { reason: 'body_invalid' })
        await accept(changeRouting(ports(), { weights, mirror: mirror === undefined ? shadow : mirror }, { force, actor }))
        return routing()
      },
    }),
    route({
      method: 'delete',
      path: '/api/overrides',
      summary: 'Ends every override: the file counts. 409 where it needs `force=true`.',
      query: z.strictObject({ force: z.enum(['true', 'false']).default('false') }),
      takesForce: true,
      async handle({ query, actor }) {
        await accept(resetOverrides(ports(), undefined, { force: query.force === 'true', actor }))
        return routing()
      },
    }),
    route({
      method: 'delete',
      path: '/api/overrides/:name',
      summary:
        'Ends the override of a provider’s state, and the suspensions of its assets after mismatches; or the override of `weights` or of `mirror`.',
      query: z.strictObject({ force: z.enum(['true', 'false']).default('false') }),
      takesForce: true,
      async handle({ parameter, query, actor }) {
        await accept(resetOverrides(ports(), parameter, { force: query.force === 'true', actor }))
        return routing()
      },
    }),
  ]
}

function refusal({ outcome, message }: Refusal): Fault {
  if (outcome === 'unknown') return new Fault('notFound', sentence(message))
  if (outcome === 'invalid') return new Fault('invalid', sentence(message), { reason: 'body_invalid' })
  return refused(message, true)
}

function noProvider(name: string): Fault {
  return new Fault('notFound', /^[\x21-\x7e]{1,64}$/.test(name) ? `No provider is called ${name}.` : 'There is no such provider.')
}
