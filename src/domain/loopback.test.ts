import { expect, it } from 'vitest'
import { isLoopback } from './network-address.ts'

it.each(['localhost', '127.0.0.1', '127.8.9.10', '[::1]', '::1'])('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true)
})

it.each(['', '10.0.0.1', '128.0.0.1', '127.0.0.1.example.com', 'localhost.example.com', '[::2]'])('%s is not', (host) => {
  expect(isLoopback(host)).toBe(false)
})
