import { hostname, networkInterfaces } from 'node:os'
import { expect, it } from 'vitest'
import { isSelfLoop } from './checks.ts'

const machine = Object.values(networkInterfaces()).flatMap((all = []) => all)
const own = machine.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.2'

it.each([
  ['127.0.0.1', 'http://127.0.0.1:8080/api/v2'],
  ['127.0.0.1', 'http://127.0.0.1:8080/a/api/v2'],
  ['127.0.0.1', 'http://localhost:8080/b/api/v2'],
  ['127.0.0.1', 'http://LOCALHOST.:8080/b/api/v2'],
  ['127.0.0.1', 'http://me.localhost:8080/b/api/v2'],
  ['127.0.0.1', 'http://127.1:8080/a/api/v2'],
  ['127.0.0.1', 'http://2130706433:8080/a/api/v2'],
  ['127.0.0.1', 'http://0.0.0.0:8080/a/api/v2'],
  ['127.0.0.1', 'http://[::ffff:127.0.0.1]:8080/a/api/v2'],
  ['127.0.0.1', 'https://127.0.0.1:8080/a/api/v2'],
  ['localhost', 'http://[::1]:8080/a/api/v2'],
  ['::1', 'http://[::]:8080/a/api/v2'],
  ['0.0.0.0', 'http://127.0.0.1:8080/a/api/v2'],
  ['0.0.0.0', 'http://127.9.8.7:8080/a/api/v2'],
  ['0.0.0.0', `http://${own}:8080/a/api/v2`],
  ['0.0.0.0', `http://${hostname()}:8080/a/api/v2`],
  ['::', 'http://127.0.0.1:8080/a/api/v2'],
  ['::', 'http://[::1]:8080/a/api/v2'],
  ['gateway.example', 'http://gateway.example:8080/a/api/v2'],
])('H12: listening on %s, %s leads back', (host, url) => {
  expect(isSelfLoop(url, { host, port: 8080 })).toBe(true)
})

it.each([
  ['127.0.0.1', 'http://127.0.0.1:8081/a/api/v2'],
  ['127.0.0.1', 'http://127.0.0.2:8080/a/api/v2'],
  ['127.0.0.1', 'http://[::1]:8080/a/api/v2'],
  ['0.0.0.0', 'http://[::1]:8080/a/api/v2'],
  ['0.0.0.0', 'http://192.0.2.1:8080/a/api/v2'],
  ['0.0.0.0', 'http://swap.example:8080/a/api/v2'],
  ['::', 'https://swap.example/a/api/v2'],
])('H12: listening on %s, %s is another', (host, url) => {
  expect(isSelfLoop(url, { host, port: 8080 })).toBe(false)
})

it.each([
  [80, 'http://127.0.0.1', true],
  [443, 'https://127.0.0.1/a', true],
  [80, 'https://127.0.0.1', false],
  [0, 'http://127.0.0.1', false],
])('H12: listening on port %i, %s leads back: %s', (port, url, isOwn) => {
  expect(isSelfLoop(url, { host: '127.0.0.1', port })).toBe(isOwn)
})
