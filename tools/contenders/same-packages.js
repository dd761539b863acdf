/**
 * What a team writes with the packages that swapgate uses: express, http-proxy-middleware rewriting, limits in Redis by
 * rate-limiter-flexible, prom-client, and OpenTelemetry's own instrumentations with one trace in ten.
 */

import { register } from 'node:module'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { ParentBasedSampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace'

register('@opentelemetry/instrumentation/hook.mjs', import.meta.url)
const [, , port, provider, redis, collector] = process.argv
new NodeSDK({
  sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.1) }),
  traceExporter: new OTLPTraceExporter({ url: `http://127.0.0.1:${collector}/v1/traces` }),
  instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation(), new IORedisInstrumentation()],
}).start()

const { default: express } = await import('express')
const { Redis } = await import('ioredis')
const { RateLimiterRedis } = await import('rate-limiter-flexible')
const { Counter, Histogram, register: registry } = await import('prom-client')
const { rewritingProxy } = await import('./rewriting.js')

const limiter = new RateLimiterRedis({ storeClient: new Redis(Number(redis)), points: 1_000_000_000, duration: 60 })
const requests = new Counter({ name: 'requests_total', help: 'Requests', labelNames: ['method', 'status'] })
const duration = new Histogram({ name: 'request_duration_seconds', help: 'Time of a request', labelNames: ['method'] })

const app = express()
app.get('/metrics', async (_, response) => response.type(registry.contentType).send(await registry.metrics()))
app.use((request, response, next) => {
  const end = duration.startTimer({ method: request.method })
  response.on('finish', () => {
    end()
    requests.inc({ method: request.method, status: response.statusCode })
  })
  next()
})
app.use(async (request, response, next) => {
  try {
    const { remainingPoints, msBeforeNext } = await limiter.consume(String(request.headers.authorization))
    response.set({ 'RateLimit-Remaining': String(remainingPoints), 'RateLimit-Reset': String(Math.ceil(msBeforeNext / 1000)) })
    next()
  } catch {
    response.sendStatus(429)
  }
})
app.use(rewritingProxy(String(provider)))
app.listen(Number(port), '127.0.0.1', () => console.log('listening'))
