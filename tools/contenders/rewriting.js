/** http-proxy-middleware rewriting a get of a transaction of a Form B provider for a client of Form A, and nothing else. */
import express from 'express'
import { createProxyMiddleware, responseInterceptor } from 'http-proxy-middleware'
import { inFormA } from './form-a.js'

/** @param {string} provider its port */
export function rewritingProxy(provider) {
  return createProxyMiddleware({
    target: `http://127.0.0.1:${provider}`,
    pathRewrite: { '^/a/api/v2': '/api/v2' },
    selfHandleResponse: true,
    on: {
      proxyReq(request, { headers }) {
        request.setHeader('X-API-Key', String(headers.authorization).slice('Bearer '.length))
        request.removeHeader('authorization')
      },
      proxyRes: responseInterceptor(async (body) => JSON.stringify(inFormA(JSON.parse(body.toString())))),
    },
  })
}

if (import.meta.main) {
  const [, , port, provider] = process.argv
  const app = express().use(rewritingProxy(String(provider)))
  app.listen(Number(port), '127.0.0.1', () => console.log('listening'))
}
