import { expect, it } from 'vitest'
import { readSettings } from '../../config/index.ts'
import { knownForms } from '../../forms/index.ts'
import { configWarnings } from './config-warnings.ts'

it('forwardAddress of a form that sends no address is of no effect', () => {
  const alpha = { form: 'A', url: 'https://swap.example/api/v2', forwardAddress: 'true' } as never
  const config = readSettings({ providers: { alpha }, routing: { providers: ['alpha'] } }, knownForms, {})
  expect(configWarnings(config)).toContain('providers.alpha.forwardAddress: of no effect: the form A sends no address of a client')
})
