import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { type RuleFile, readRules, ruleFiles } from './rule.ts'
import { scaled } from './scaling.ts'

const rulesIn = ({ groups }: RuleFile) => groups.flatMap((group) => group.rules)

it.each(ruleFiles)('changes nothing but windows, waiting times, and the two limits of milliseconds: %s', (file) => {
  const withoutTimes = (text: string): string =>
    text
      .replaceAll(/(\[|offset |(?<=\[\w*):)\w+/g, '$1')
      .replace(/le="0\.0?25"/g, 'le="…"')
      .replace(/> (?:0\.1|1)$/gm, '> …')
  const [before, after] = [rulesIn(readRules(file)), rulesIn(parse(scaled(file)) as RuleFile)]
  expect(after.map(({ expr, ...rule }) => [withoutTimes(expr), { ...rule, for: undefined }])).toEqual(
    before.map(({ expr, ...rule }) => [withoutTimes(expr), { ...rule, for: undefined }]),
  )
  expect(after.filter(({ expr }) => /(?:\[|offset |\[\w+:)\d+[mhd]\b/.test(expr))).toEqual([])
})
