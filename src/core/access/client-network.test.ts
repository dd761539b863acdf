import { expect, test } from 'vitest'
import { clientAddressOf, clientNetworkOf } from './client-address.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:0207', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::1', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['192.0.2.7:5000', '192.0.2.7'],
  ['[2001:db8::1]:5000', '2001:db8:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::ffff:192.0.2.7%eth0', '192.0.2.7'],
  ['[fe80::1%eth0]:80', 'fe80:0:0:0'],
])('R6: %s stands for %s', (address, network) => {
  expect(clientNetworkOf(address)).toBe(network)
})

test('R6: two mapped IPv4 clients are two subjects', () => {
  expect(clientNetworkOf('::ffff:192.0.2.7')).not.toBe(clientNetworkOf('::ffff:192.0.2.8'))
})

test('R6: 65,536 addresses of one /64 are one subject, and 65,536 networks are as many', () => {
  const groups = Array.from({ length: 65_536 }, (_, at) => at.toString(16))
  expect(new Set(groups.map((group) => clientNetworkOf(`2001:db8:1:2::${group}`)))).toEqual(new Set(['2001:db8:1:2']))
  expect(new Set(groups.map((group) => clientNetworkOf(`2001:db8:1:${group}::1`))).size).toBe(65_536)
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['192.0.2.7:5000', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:0207', '192.0.2.7'],
  ['[2001:db8::1]:5000', '2001:db8::1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:5:6'],
  ['fe80::1%eth0', 'fe80::1'],
  ['', ''],
  ['unknown', 'unknown'],
])('%s is the address %s', (text, address) => {
  expect(clientAddressOf(text)).toBe(address)
})
