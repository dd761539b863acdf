import { expect, it } from 'vitest'
import { contextOf, scripted } from '../../../test/support/service.ts'
import { Fault, type FaultKind } from '../../domain/fault.ts'
import type { Op } from '../../domain/service.ts'
import type { Layer } from '../layer.ts'
import { gatewayKeyErrors, gatewayQuoteErrors } from './authentication.ts'

it.each<[string, Layer, Op, FaultKind, FaultKind]>([
  ['the gateway sends its own key with all calls', gatewayKeyErrors(), 'getTransaction', 'unauthorized', 'accessRefused'],
  ['the gateway sends its own key with all calls', gatewayKeyErrors(), 'getRate', 'limited', 'unavailable'],
  ['clients send theirs', gatewayQuoteErrors(), 'getTransaction', 'unauthorized', 'unauthorized'],
  ['clients send theirs', gatewayQuoteErrors(), 'getRate', 'unauthorized', 'accessRefused'],
  ['clients send theirs', gatewayQuoteErrors(), 'getRate', 'limited', 'limited'],
])('where %s, for a refusal of %#', async (_, layer, op, refused, expected) => {
  const provider = scripted(() => {
    throw new Fault(refused, 'no', { provider: 'alpha' })
  })
  await expect(layer(provider).call(op, {} as never, contextOf())).rejects.toMatchObject({ kind: expected })
})
