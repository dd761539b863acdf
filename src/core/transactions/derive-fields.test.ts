import { expect, it } from 'vitest'
import { contextOf, scripted } from '../../../test/support/service.ts'
import { formA } from '../../forms/a.ts'
import { providerForms } from '../../forms/index.ts'
import { deriveFields } from './derive-fields.ts'

const quote = { amountIn: '0.10', amountOut: '6500.5' }

async function quoted(form: string, body: object, derived?: readonly string[]) {
  const provider = providerForms.find(({ name }) => name === form)
  if (!provider) throw new Error(form)
  const service = deriveFields(provider.capabilities)(scripted(() => ({ body, derived })))
  return service.call('getRate', {} as never, { ...contextOf(), clientCapabilities: formA.capabilities })
}

it('a quote of a form without a rate gets the amount received divided by the amount', async () => {
  expect(await quoted('changenow', quote)).toMatchObject({ body: { ...quote, rate: '65005' }, derived: ['rate'] })
})

it('what the form itself derived is still reported', async () => {
  expect((await quoted('stealthex', quote, ['amountIn'])).derived).toEqual(['amountIn', 'rate'])
})

it('a rate that a form has and left empty stays empty', async () => {
  expect((await quoted('exolix', quote)).body).toEqual(quote)
})
