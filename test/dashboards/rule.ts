/** The rules of `dashboards/rules`, as Prometheus reads them. */
import { globSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'

interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly for?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly interval?: string; readonly rules: readonly Rule[] }[]
}

export type Alert = Rule & { readonly alert: string }

export const ruleFiles: readonly string[] = globSync('dashboards/rules/*.yaml')

export function readRules(file: string): RuleFile {
  return parse(readFileSync(file, 'utf8')) as RuleFile
}

export function rules(): readonly Rule[] {
  return ruleFiles.flatMap((file) => readRules(file).groups.flatMap((group) => group.rules))
}

export function alerts(): readonly Alert[] {
  return rules().filter((rule): rule is Alert => rule.alert !== undefined)
}
