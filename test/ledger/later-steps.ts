/** Later versions of the schema: this one, and steps that it does not have yet. */
import { type Step, steps } from '../../src/ledger/schema/steps.ts'

/** Makes this process one of a later version, until the result is disposed: by the names of its steps, the schema of each. */
export function addSteps(schemas: Readonly<Record<string, number>>): Disposable {
  for (const [at, [name, schema]] of Object.entries(schemas).entries())
    steps[name] = { schema, kind: 'expand', statements: statementsOf(at) }
  return {
    [Symbol.dispose]() {
      for (const name of Object.keys(schemas)) Reflect.deleteProperty(steps, name)
    },
  }
}

function statementsOf(at: number): Step['statements'] {
  return ({ text }) => [`ALTER TABLE claims ADD COLUMN note_${at} ${text}`, `CREATE TABLE notes_${at} (note ${text} PRIMARY KEY)`]
}
