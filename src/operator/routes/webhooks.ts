import { z } from 'zod'
import { makeWebhookSecret, secretBox } from '../../adapters/webhook-crypto.ts'
import { toDuration } from '../../core/operations/duration.ts'
import { secretIn, secretPart } from '../../core/operations/secret-ids.ts'
import {
  addWebhook,
  attemptRow,
  attemptShortener,
  deliveryRow,
  isOverlap,
  maxDeliveries,
  newWebhookRow,
  overlapRule,
  replayDelivery,
  rotateWebhook,
  shortenedUrl,
  testWebhook,
  type WebhookPorts,
  webhookRow,
} from '../../core/operations/webhooks.ts'
import type { DeliveryCounts, Webhook } from '../../core/ports/webhooks.ts'
import { Fault } from '../../domain/fault.ts'
import type { OperatorRole } from '../../domain/operator-role.ts'
import { allowedTargets } from '../../domain/webhook-target.ts'
import { formNamed, forms } from '../../forms/index.ts'
import { changeEncoder } from '../../gateway/webhook-bodies.ts'
import { webhookSender } from '../../process/webhook-sender.ts'
import { integer, ok, okParts, okRows, type Route, route } from '../route.ts'
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

export function webhookRoutes({ stores: { webhooks, audit }, inForce, hasPlainIds }: OperatorParts): readonly Route[] {
  const portsFor = (actor: string): WebhookPorts => ({
    ...{ webhooks, secrets: secretBox(inForce().webhooks.key), makeSecret: makeWebhookSecret, actor },
  })
  const webhookNamed = async (id: string): Promise<Webhook> => {
    const found = await webhooks.find(id)
    if (!found) throw unknownWebhook()
    return found
  }
  const rowOf = (webhook: Webhook, counts: DeliveryCounts, roles: readonly OperatorRole[]) => {
    const row = webhookRow(webhook, Date.now(), counts)
    return roles.includes('money') ? row : { ...row, url: shortenedUrl(row.url) }
  }
  return [
    route({
      method: 'get',
      path: '/api/webhooks',
      summary: 'All webhooks, the oldest first, without their secrets; URLs are whole for the role `money`.',
      async handle({ roles }) {
        const [all, counts] = await Promise.all([webhooks.list(), webhooks.countsOfAll()])
        return okRows(all, (webhook) => rowOf(webhook, counts.get(webhook.id) ?? { waiting: 0, failed: 0 }, roles))
      },
    }),
    route({
      method: 'post',
      path: '/api/webhooks',
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
      summary: 'One webhook, with how many of its deliveries wait and have failed; its URL is whole for the role `money`.',
      async handle({ parameter, roles }) {
        const webhook = await webhookNamed(parameter)
        return ok(rowOf(webhook, await webhooks.counts(parameter), roles))
      },
    }),
    route({
      method: 'delete',
      path: '/api/webhooks/:id',
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
      summary: 'Gives a webhook another secret, which is shown this once. During `overlap` (24h) the old one signs too.',
      body: z.strictObject({ overlap: overlap.optional() }).default({}),
      async handle({ parameter, body, actor }) {
        const rotated = await rotateWebhook(portsFor(actor), parameter, body.overlap)
        if (!rotated) throw unknownWebhook()
        return ok(newWebhookRow(rotated, Date.now()))
      },
    }),
    route({
      method: 'post',
      path: '/api/webhooks/:id/test',
      summary: 'Sends a webhook something that is no change, now, and says what became of it.',
      async handle({ parameter, actor, roles }) {
        const { url } = await webhookNamed(parameter)
        const attempt = await testWebhook({ webhooks, audit, actor }, parameter, webhookSender(inForce()))
        if (!attempt) throw unknownWebhook()
        return ok(attemptRow(shownTo(roles, url)(attempt)))
      },
    }),
    route({
      method: 'get',
      path: '/api/webhooks/:id/deliveries',
      summary: `What a webhook was sent and is to be sent, newest first; with \`failed=true\` what has failed for good; \`size\` is at most ${maxDeliveries}, and \`Link\` has the next page. What responses have of addresses and of the URL is whole for the role \`money\`.`,
      query: z.strictObject({
        failed: z.enum(['true', 'false'], 'must be true or false').default('false'),
        after: z.string().max(100).optional(),
        size: integer(1, maxDeliveries, maxDeliveries),
      }),
      async handle({ parameter, query: { failed, after, size }, roles }) {
        const { url } = await webhookNamed(parameter)
        const { parts, next } = await webhooks.deliveries(parameter, { onlyFailed: failed === 'true', after, size })
        const shown = shownTo(roles, url)
        const page = okParts(parts, (delivery) => {
          const secret = secretPart(delivery.provider, delivery.providerId, hasPlainIds)
          return deliveryRow({ ...delivery, attempts: delivery.attempts.map((attempt) => shown(attempt, secret)) })
        })
        const query = next && new URLSearchParams({ failed, size: String(size), after: next })
        return query ? { ...page, next: `/api/webhooks/${encodeURIComponent(parameter)}/deliveries?${query}` } : page
      },
    }),
    route({
      method: 'post',
      path: '/api/deliveries/:id/replay',
      summary: 'Sends a delivery again, now and beside its queue, and says what became of it.',
      async handle({ parameter, actor, roles }) {
        const { assets, ...config } = inForce()
        const ports = { webhooks, audit, actor }
        const replayed = await replayDelivery(ports, parameter, webhookSender(config), changeEncoder(assets))
        if (!replayed) throw new Fault('notFound', 'No delivery of an active webhook has this id.')
        return ok(attemptRow(shownTo(roles, replayed.webhook.url)(replayed.attempt, secretIn(replayed.body, hasPlainIds))))
      },
    }),
  ]
}

/** What of an attempt at the URL a token with these roles sees. */
function shownTo(roles: readonly OperatorRole[], url: string): ReturnType<typeof attemptShortener> {
  return roles.includes('money') ? (attempt) => attempt : attemptShortener(url)
}

function unknownWebhook(): Fault {
  return new Fault('notFound', 'No webhook has this id.')
}
