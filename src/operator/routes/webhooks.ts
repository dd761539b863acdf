import { z } from 'zod'
import { makeWebhookSecret, secretBox } from '../../adapters/webhook-crypto.ts'
import { toDuration } from '../../core/operations/duration.ts'
import { shortened } from '../../core/operations/transaction-row.ts'
import {
  addWebhook,
  attemptRow,
  deliveryRow,
  isOverlap,
  maxDeliveries,
  newWebhookRow,
  overlapRule,
  replayDelivery,
  rotateWebhook,
  testWebhook,
  type WebhookPorts,
  webhookRow,
} from '../../core/operations/webhooks.ts'
import type { Attempt, Delivery, Webhook } from '../../core/webhooks.ts'
import { Fault } from '../../domain/fault.ts'
import { toIso } from '../../domain/instant.ts'
import type { OperatorRole } from '../../domain/operator-role.ts'
import { allowedTargets } from '../../domain/webhook-target.ts'
import { formNamed, forms } from '../../forms/index.ts'
import { changeEncoder } from '../../gateway/webhook-bodies.ts'
import { webhookSender } from '../../process/webhook-sender.ts'
import { ok, type Route, route } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

const formNames = forms.map(({ name }) => name)
const formRule = `must be one of ${formNames.join(', ')}`
const form = z.string().transform((text, context): string => {
  const name = formNames.find((known) => known.toLowerCase() === text.toLowerCase())
  if (name !== undefined) return name
  context.issues.push({ code: 'custom', message: formRule, input: text })
  return z.NEVER
})
const overlap = z.string().transform((text, context): number => {
  const duration = toDuration(text)
  if (duration !== undefined && isOverlap(duration)) return duration
  context.issues.push({ code: 'custom', message: `must be ${overlapRule}`, input: text })
  return z.NEVER
})

export function webhookRoutes({ stores: { webhooks, audit }, inForce }: OperatorParts): readonly Route[] {
  const portsFor = (actor: string): WebhookPorts => ({
    ...{ webhooks, secrets: secretBox(inForce().webhooks.key), makeSecret: makeWebhookSecret, actor },
  })
  const webhookNamed = async (id: string): Promise<Webhook> => {
    const found = await webhooks.find(id)
    if (!found) throw unknownWebhook()
    return found
  }
  const rowOf = async (webhook: Webhook) => webhookRow(webhook, Date.now(), await webhooks.counts(webhook.id))
  return [
    route({
      method: 'get',
      path: '/api/webhooks',
      role: 'read',
      summary: 'All webhooks, the oldest first, without their secrets.',
      handle: async () => ok(await Promise.all((await webhooks.list()).map(rowOf))),
    }),
    route({
      method: 'post',
      path: '/api/webhooks',
      role: 'money',
      summary: 'Adds a webhook to an account. Its secret is shown this once.',
      body: z.strictObject({ account: z.string(), url: z.string(), form: form.optional() }),
      async handle({ body, actor }) {
        const settings = { ...body, form: body.form ?? formNamed(inForce().defaultForm).name }
        const added = await addWebhook(portsFor(actor), settings, allowedTargets(inForce().webhooks.allow))
        if (!added) throw new Fault('notFound', 'No account has this name.')
        return { status: 201, body: newWebhookRow(added, Date.now()) }
      },
    }),
    route({
      method: 'get',
      path: '/api/webhooks/:id',
      role: 'read',
      summary: 'One webhook, with how many of its deliveries wait and have failed.',
      handle: async ({ parameter }) => ok(await rowOf(await webhookNamed(parameter))),
    }),
    route({
      method: 'delete',
      path: '/api/webhooks/:id',
      role: 'money',
      summary: 'Ends a webhook, with all that waits for it.',
      async handle({ parameter, actor }) {
        const webhook = await webhookNamed(parameter)
        if (!(await webhooks.remove(parameter, Date.now(), actor))) throw unknownWebhook()
        return ok({ ...webhookRow(webhook, Date.now()), state: 'removed', oldSecretEndsAt: null })
      },
    }),
    route({
      method: 'post',
      path: '/api/webhooks/:id/rotate',
      role: 'money',
      summary: 'Gives a webhook another secret, which is shown this once. During `overlap` (24h) the old one signs too.',
      body: z.strictObject({ overlap: overlap.optional() }).default({}),
      async handle({ parameter, body, actor }) {
        const rotated = await rotateWebhook(portsFor(actor), parameter, body.overlap)
        if (!rotated) throw unknownWebhook()
        return ok({ ...newWebhookRow(rotated, Date.now()), oldSecretEndsAt: toIso(rotated.oldSecretEndsAt) })
      },
    }),
    route({
      method: 'post',
      path: '/api/webhooks/:id/test',
      role: 'operate',
      summary: 'Sends a webhook something that is no change, now, and says what became of it.',
      async handle({ parameter, actor }) {
        const attempt = await testWebhook({ webhooks, audit, actor }, parameter, webhookSender(inForce()))
        if (!attempt) throw unknownWebhook()
        return ok(attemptRow(attempt))
      },
    }),
    route({
      method: 'get',
      path: '/api/webhooks/:id/deliveries',
      role: 'read',
      summary: `What a webhook was sent and is to be sent, newest first, at most ${maxDeliveries}; with \`failed=true\` what has failed for good.`,
      query: z.strictObject({ failed: z.enum(['true', 'false'], 'must be true or false').optional() }),
      async handle({ parameter, query, roles }) {
        await webhookNamed(parameter)
        const found = await webhooks.deliveries(parameter, { onlyFailed: query.failed === 'true', max: maxDeliveries })
        const attemptsOf = ({ attempts }: Delivery) => attempts.map((attempt) => shownTo(roles, attempt))
        return ok(found.map((delivery) => deliveryRow({ ...delivery, attempts: attemptsOf(delivery) })))
      },
    }),
    route({
      method: 'post',
      path: '/api/deliveries/:id/replay',
      role: 'operate',
      summary: 'Sends a delivery again, now and beside its queue, and says what became of it.',
      async handle({ parameter, actor, roles }) {
        const { assets, ...config } = inForce()
        const ports = { webhooks, audit, actor }
        const attempt = await replayDelivery(ports, parameter, webhookSender(config), changeEncoder(assets))
        if (!attempt) throw new Fault('notFound', 'No delivery of an active webhook has this id.')
        return ok(attemptRow(shownTo(roles, attempt)))
      },
    }),
  ]
}

/** A receiver may send back the addresses that it got. */
function shownTo(roles: readonly OperatorRole[], attempt: Attempt): Attempt {
  if (roles.includes('money')) return attempt
  return { ...attempt, body: attempt.body?.replace(/[\w:-]{25,}/g, shortened) ?? null }
}

function unknownWebhook(): Fault {
  return new Fault('notFound', 'No webhook has this id.')
}
