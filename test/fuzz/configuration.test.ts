// Takes long: `SWAPGATE_FUZZ` sets the seconds.
/** Any content of the configuration's files is taken whole, or refused with every fault by its path. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { ConfigError, loadConfig } from '../../src/config/index.ts'
import { knownForms } from '../../src/forms/index.ts'
import { mutated } from './bytes.ts'
import { fuzz, timeout } from './watch.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-fuzz-'))
afterAll(() => rmSync(directory, { recursive: true }))

const gateway = readFileSync('deploy/gateway.yaml', 'utf8')
const table = readFileSync('config/assets.yaml', 'utf8').slice(0, 3_000)
const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 12 }, (_, at) => `b${at}: &b${at} [${`*${at === 0 ? 'a' : `b${at - 1}`},`.repeat(9)}]`).join('\n')}\n`

test('V28: configurations', { timeout }, async () => {
  const files = fc.tuple(
    fc.oneof({ arbitrary: mutated(gateway), weight: 8 }, { arbitrary: fc.constant(bomb + gateway), weight: 1 }),
    fc.oneof({ arbitrary: mutated(table), weight: 8 }, { arbitrary: fc.constant(bomb), weight: 1 }),
  )
  await fuzz(files, async ([text, assets]) => {
    writeFileSync(join(directory, 'gateway.yaml'), text)
    writeFileSync(join(directory, 'assets.yaml'), assets)
    try {
      loadConfig(join(directory, 'gateway.yaml'), knownForms, { ALPHA_KEY: 'a', BETA_KEY: 'b' })
    } catch (reason) {
      expect(reason, text).toBeInstanceOf(ConfigError)
      expect((reason as ConfigError).faults.length).toBeGreaterThan(0)
    }
    await new Promise(setImmediate)
  })
})
