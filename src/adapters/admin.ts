/** express: the operators' port, apart from the public one. */
import express, { type Express, type Response } from 'express'
import type { Http } from '../wire/http.ts'

export type Readiness = 'starting' | 'ready' | 'draining'

export interface AdminOptions {
  readonly readiness: () => Readiness
  /** Prometheus' exposition of everything that is counted. */
  readonly metrics: { readonly contentType: string; readonly print: () => Promise<string> }
}

/** `/livez` touches nothing, `/readyz` says whether clients should come, `/metrics` is for Prometheus. */
export function adminApp({ readiness, metrics }: AdminOptions): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.use((_, response, next) => {
    response.set('cache-control', 'no-store')
    next()
  })
  app.get('/livez', (_, response) => void response.json({ status: 'alive' }))
  app.get('/readyz', (_, response) => {
    const status = readiness()
    response.status(status === 'ready' ? 200 : 503).json({ status })
  })
  app.get('/metrics', async (_, response) => void response.type(metrics.contentType).send(await metrics.print()))
  app.use((_, response) => refuse(response, 404, 'No such path; this port has GET /livez, /readyz and /metrics.'))
  app.use((_: unknown, __: unknown, response: Response, ___: unknown) => refuse(response, 500, 'Internal error.'))
  return app
}

/** The answer to what is not HTTP. */
export const adminRefusal: Http = async () => ({
  status: 400,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify({ message: 'The request is not HTTP/1.1.', code: 400 }),
})

function refuse(response: Response, code: number, message: string): void {
  response.status(code).json({ message, code })
}
