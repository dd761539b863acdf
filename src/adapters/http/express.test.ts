import type { Request } from 'express'
import { expect, test } from 'vitest'
import { clientAddress } from './express.ts'

const request = (ip: string | undefined) => ({ ip, socket: { remoteAddress: '192.0.2.9' } }) as Request

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['192.0.2.7:5000', '192.0.2.7'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:5000', '2001:db8::1'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['unknown', ''],
  ['_hidden', ''],
  ['192.0.2.7.', ''],
  ['192.0.2.300', ''],
  ['192.0.2.7:', ''],
  ['1:2', ''],
  ['x'.repeat(14_000), ''],
  [`fe80::1%${'x'.repeat(14_000)}`, ''],
  ['', ''],
  [undefined, ''],
])('what a proxy wrote, %j, is the address %j', (written, address) => {
  expect(clientAddress(request(written), 1)).toBe(address)
})

test('without trusted proxies the address is that of the socket, whatever is written', () => {
  expect(clientAddress(request('198.51.100.1'), 0)).toBe('192.0.2.9')
})
