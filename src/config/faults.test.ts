import { readFileSync } from 'node:fs'
import { expect, it, test } from 'vitest'
import { workMs } from '../../test/support/work.ts'
import { publicName } from './faults.ts'

test.each([
  'sk_live_51H8xQ2eZvKYlo2C',
  'sk-live-alpha',
  'canary-provider-key-1',
  'super-secret',
  'api_key_of_alpha',
  'hunter2hunter2',
  'd41d8cd98f00b204e9800998ecf8427e',
  '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc',
  'QWxhZGRpbjpvcGVuIHNlc2FtZQ==',
  'QwErTyUiOpAs',
  'a1b2c3d4',
  'correct-horse-battery-staple',
  'correcthorsebatterystaple',
  'p4$$w0rd',
  'mot de passe',
  'schlüssel',
  'line\nbreak',
  '',
])('%j may be a secret, so that only its length is shown', (name) => {
  expect(publicName(name)).toBe(`<${[...name].length} characters>`)
})

test.each([
  'alpha',
  'changenow2',
  'sevrer',
  'colour',
  'max_body_bytes',
  'on_hold',
  'USDTTRC20',
  'BEP20USDT',
  '1INCH',
  'retries',
  '0',
])('%s is shown', (name) => expect(publicName(name)).toBe(name))

it('shows every key of the configuration', () => {
  const rows = [...readFileSync('docs/configuration.md', 'utf8').matchAll(/^\| `([\w.<>]+)` \|/gm)].map(([, path = '']) => path)
  expect(rows.length).toBeGreaterThan(60)
  for (const word of rows.flatMap((path) => path.split('.'))) if (!word.startsWith('<')) expect(publicName(word)).toBe(word)
})

it('takes no time for a long name', async () => {
  const showAll = (): void => {
    for (const letter of ['a', 'A', '_', '1', 'aA', 'a1', '-a']) publicName(letter.repeat(200_000))
  }
  expect(await workMs(showAll)).toBeLessThan(200)
})
