/** Every regular expression of the source. */
import { globSync, readFileSync } from 'node:fs'
import { parseSync, Visitor } from 'oxc-parser'

export interface Expression {
  /** `src/wire/http.ts: /^\d{1,9}$/`. */
  readonly name: string
  readonly source: string
  readonly flags: string
}

export interface Expressions {
  readonly literals: readonly Expression[]
  /** Made while the program runs: `src/domain/key.ts: new RegExp(…)`. */
  readonly computed: readonly string[]
}

export function expressionsOfSource(): Expressions {
  const literals: Expression[] = []
  const computed: string[] = []
  for (const file of globSync('src/**/*.ts').toSorted()) {
    if (/(?:\.test|\/fixture)\.ts$/.test(file)) continue
    const text = readFileSync(file, 'utf8')
    new Visitor({
      Literal(node) {
        if (!('regex' in node)) return
        const { pattern, flags } = node.regex
        literals.push({ name: `${file}: /${pattern}/${flags}`, source: pattern, flags })
      },
      NewExpression({ callee, start, end }) {
        if (callee.type === 'Identifier' && callee.name === 'RegExp') computed.push(`${file}: ${text.slice(start, end)}`)
      },
    }).visit(parseSync(file, text).program)
  }
  return { literals: [...new Map(literals.map((literal) => [literal.name, literal])).values()], computed }
}
