import { Fault } from '../domain/fault.ts'
import { after, type Layer } from './layer.ts'

/**
 * What is said where a provider used a status word that nobody has explained (`spec/contract.md` §3, Status): a create
 * answers `wait`, a get fails, a list leaves the field out.
 */
export function statuses(): Layer {
  return after({
    createTransaction: (answer) => ({ ...answer, body: { ...answer.body, status: answer.body.status ?? 'wait' } }),
    getTransaction: (answer) => {
      if (answer.body.status !== undefined) return answer
      const message = 'The provider gave a status that is not known; please try again later.'
      throw new Fault('unreadable', message, { ...(answer.provider !== undefined && { provider: answer.provider }) })
    },
  })
}
