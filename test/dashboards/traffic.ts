/** Continuous traffic of all kinds of clients, some ten requests a second. */
import { setTimeout as delay } from 'node:timers/promises'
import { sendRequest } from '../support/client.ts'
import type { Site, World } from './world.ts'

type Step = () => Promise<unknown>

export class Traffic implements AsyncDisposable {
  private isOver = false
  private readonly done: Promise<void>

  constructor(world: World) {
    const steps = [...stepsAt(world, world.alpha, 'often'), ...stepsAt(world, world.beta, 'seldom')]
    this.done = this.run(steps)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isOver = true
    await this.done
  }

  /** One after the other, whatever becomes of them. */
  private async run(steps: readonly Step[]): Promise<void> {
    for (let next = 0; !this.isOver; next++) {
      void steps[next % steps.length]?.().catch(() => undefined)
      await delay(100)
    }
  }
}

function stepsAt(world: World, site: Site, quotes: 'often' | 'seldom'): readonly Step[] {
  const { gateway, customers } = site
  const [inA, inB] = customers
  const plain =
    (path: string): Step =>
    () =>
      sendRequest(gateway.url, { path })
  const known: string[] = []
  const create =
    (customer: typeof inA): Step =>
    async () => {
      const response = await customer.create(gateway.url, world.order())
      const { id } = (response?.json ?? {}) as { id?: string }
      if (id !== undefined) known.unshift(id)
    }
  const get =
    (customer: typeof inA): Step =>
    () =>
      customer.get(gateway.url, known[0] ?? 'none')
  const few = [
    plain('/a/api/v2/currencies?size=5'),
    plain('/b/api/v2/currencies?size=5'),
    create(inA),
    get(inA),
    () => inB.list(gateway.url, 1, 5),
  ]
  if (quotes === 'seldom') return few
  const rate = plain('/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=3')
  const wrong = [plain('/a/api/v2/nowhere'), plain('/b/api/v2/rate?coinFrom=XRP')]
  return [...few, rate, rate, () => world.quote(site), create(inB), get(inB), ...wrong]
}
