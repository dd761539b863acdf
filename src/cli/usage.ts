/** `swapgate usage`: what accounts use (docs/contract.md §5, docs/contract-operators.md §13). */
import type { Command } from 'commander'
import { durations, toSince } from '../core/operations/duration.ts'
import { accountNameRule, toAccountName } from '../core/operations/keys.ts'
import { type UsageQuery, type UsageReport, usageReport } from '../core/operations/usage.ts'
import { type ExitCode, type Session, withLedger } from './session.ts'
import { refuse, type Terminal } from './terminal.ts'
import { configOption, formatTable, jsonOption, type Options, parsedBy } from './values.ts'

const times = `a time before now ${durations}, or a date like 2026-11-20 or 2026-11-20T08:00:00Z`
const asSince = parsedBy(toSince, times)
const asName = parsedBy(toAccountName, accountNameRule)

type UsageOptions = Options & UsageQuery

export function addUsage(program: Command, terminal: Terminal, end: (exitCode: ExitCode) => void): void {
  program
    .command('usage')
    .description('print what accounts use: creates, swaps, amounts and requests')
    .option('--account <name>', 'only this account', asName)
    .option('--since <when>', `only since this hour: ${times}`, asSince)
    .option(...configOption)
    .option(...jsonOption)
    .action(async (options: UsageOptions) => end(await withLedger(options, terminal, (session) => printUsage(options, session))))
}

async function printUsage({ account, since, json }: UsageOptions, { stores, terminal }: Session): Promise<ExitCode> {
  const report = await usageReport(stores.usage, { account, since })
  if (!report) return refuse(`no account has the name ${account}`, terminal)
  if (json) terminal.out(JSON.stringify(report))
  else for (const line of usageLines(report)) terminal.out(line)
  return 0
}

function usageLines({ since, accounts }: UsageReport): readonly string[] {
  if (accounts.length === 0) return ['There are no accounts.']
  const rows = accounts.flatMap(({ account, creates, swaps, amounts, open, requests }) => [
    [account, 'creates', countsText(creates)],
    ['', 'swaps', countsText(swaps)],
    ['', 'amounts in', sumsText(amounts.in)],
    ['', 'amounts out', sumsText(amounts.out)],
    ['', 'open in', sumsText(open.in)],
    ['', 'open out', sumsText(open.out)],
    ...Object.entries(requests).map(([operation, counts]) => ['', operation, countsText(counts)]),
  ])
  const from = since === null ? '' : ` Since ${since}.`
  return [
    ...formatTable([['account', 'what', 'how much'], ...rows]),
    `Requests are counted for 400 days, and written within seconds: a killed process loses at most its last 10.${from}`,
  ]
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const counted = Object.entries(counts).filter(([, count]) => count > 0)
  return counted.map(([name, count]) => `${count} ${name}`).join(', ') || '-'
}

function sumsText(sums: Readonly<Record<string, string>>): string {
  return (
    Object.entries(sums)
      .map(([code, sum]) => `${sum} ${code}`)
      .join(', ') || '-'
  )
}
