/** @fastify/http-proxy passing bytes. */
import proxy from '@fastify/http-proxy'
import fastify from 'fastify'

const [, , port, provider] = process.argv
const server = fastify()
await server.register(proxy, { upstream: `http://127.0.0.1:${provider}`, prefix: '/a/api/v2', rewritePrefix: '/api/v2' })
await server.listen({ port: Number(port), host: '127.0.0.1' })
console.log('listening')
