import { expect, test } from 'vitest'
import { subjectOf } from './subject.ts'

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
])('%s stands for %s', (address, subject) => {
  expect(subjectOf(address)).toBe(subject)
})

test('two mapped IPv4 clients are two subjects', () => {
  expect(subjectOf('::ffff:192.0.2.7')).not.toBe(subjectOf('::ffff:192.0.2.8'))
})
