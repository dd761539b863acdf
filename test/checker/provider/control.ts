/** How to make a provider in another process fail: `POST` of a method's name, with its arguments as JSON. */
import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Provider } from '../provider.ts'

export type Controls = Pick<Provider, 'fault' | 'heal' | 'change'>

export function controlServer(provider: Controls): Server {
  return createServer(async (request, response) => {
    const values = (await json(request)) as never[]
    const method = provider[request.url?.slice(1) as keyof Controls] as (...values: never[]) => Promise<void>
    await method(...values)
    response.end()
  })
}

/** The other side of it. */
export function controls(url: string): Controls {
  const call = async (name: keyof Controls, ...values: readonly unknown[]): Promise<void> => {
    const { ok } = await fetch(`${url}/${name}`, { method: 'POST', body: JSON.stringify(values) })
    if (!ok) throw new Error(`the provider did not take: ${name}`)
  }
  return {
    fault: (fault) => call('fault', fault),
    heal: () => call('heal'),
    change: (id, facts) => call('change', id, facts),
  }
}
