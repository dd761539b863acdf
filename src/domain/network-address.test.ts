import { expect, it } from 'vitest'
import { isLoopback, isPublicAddress } from './network-address.ts'

it.each(['localhost', '127.0.0.1', '127.8.9.10', '[::1]', '::1'])('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true)
})

it.each(['', '10.0.0.1', '128.0.0.1', '127.0.0.1.example.com', 'localhost.example.com', '[::2]'])('%s is not', (host) => {
  expect(isLoopback(host)).toBe(false)
})

it.each([
  ...['8.8.8.8', '1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'],
  ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.0.3.0', '192.167.255.255', '192.169.0.0'],
  ...['198.17.255.255', '198.20.0.0', '198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
  ...['2606:4700:4700::1111', '2001:200::1', '2001:db7:ffff::', '2001:db9::', '2003::1', '2001:4860:4860:0:0:0:0:8888'],
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

it.each([
  ['this network', '0.0.0.0'],
  ['private', '10.0.0.1'],
  ['private', '172.16.0.1'],
  ['private', '172.31.255.255'],
  ['private', '192.168.1.1'],
  ['shared by a provider (CGNAT)', '100.64.0.1'],
  ['shared by a provider (CGNAT)', '100.127.255.255'],
  ['loopback', '127.0.0.1'],
  ['link-local', '169.254.169.254'],
  ['of a protocol', '192.0.0.8'],
  ['of documentation', '192.0.2.1'],
  ['of documentation', '198.51.100.1'],
  ['of documentation', '203.0.113.1'],
  ['of a former relay', '192.88.99.1'],
  ['of tests', '198.19.255.255'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['of the host, at Azure', '168.63.129.16'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['unique local', 'fc00::1'],
  ['unique local', 'fd12:3456:789a::1'],
  ['multicast', 'ff02::1'],
  ['IPv4-mapped', '::ffff:8.8.8.8'],
  ['IPv4-mapped', '::ffff:a00:1'],
  ['IPv4-compatible', '::8.8.8.8'],
  ['translated', '64:ff9b::808:808'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['of documentation', '2001:db8::1'],
  ['of documentation', '3fff::1'],
  ['6to4', '2002:a00:1::1'],
  ['no address', ''],
  ['no address', 'mirror'],
  ['no address', '8.8.8.8:443'],
  ['no address', '8.8.8'],
  ['no address', '010.8.8.8'],
  ['no address', '8.8.8.8, 10.0.0.1'],
  ['no address', '8.8.8.8\r\nx-admin: 1'],
])('an address that is %s is not: %s', (_, address) => {
  expect(isPublicAddress(address)).toBe(false)
})
