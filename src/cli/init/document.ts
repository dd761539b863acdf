import type { Answers } from './answers.ts'

/** The name and the tag of the first provider: it is in the ids that clients get, so it does not name the provider. */
export const firstProvider = 'alpha'

/** The text of a configuration file. Everything that is not in it has its default. */
export function configurationText({ form, url, mode, key, port, settings, forwardsAddress }: Answers): string {
  const quoted = (value: string): string => JSON.stringify(value)
  const named = Object.entries(settings).map(([name, value]) => `      ${quoted(name)}: ${quoted(value)}\n`)
  return `# Every key, with its default and its unit: docs/configuration.md.

server:
  host: "\${SWAPGATE_HOST:-127.0.0.1}"
  port: ${port}

# managed: clients use keys that you issue (swapgate keys create). passthrough: clients use their own keys at the provider.
auth:
  mode: ${mode}

ledger:
  url: "\${LEDGER_URL:-sqlite:data/swapgate.db}"

# The coins, networks and codes that clients see.
assets: assets.yaml

providers:
  # The name stands in the ids of its transactions: do not change it later.
  ${firstProvider}:
    form: ${form}
    url: ${quoted(url)}
${key === '' ? '' : `    key: ${quoted(key)}\n`}${named.length === 0 ? '' : `    settings:\n${named.join('')}`}${forwardsAddress ? '    forwardAddress: true\n' : ''}
routing:
  providers: [${firstProvider}]
`
}
