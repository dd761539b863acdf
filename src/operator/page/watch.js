/** What has changed between two readings, in words for a person who listens. */

export function differences(before, { report, unresolved }) {
  return [...(report && before.report ? providerChanges(before.report, report) : []), ...createChanges(before, unresolved)].join(
    ' ',
  )
}

function providerChanges({ providers: old }, { providers }) {
  return providers.flatMap((provider) => {
    const known = old.find(({ name }) => name === provider.name)
    if (!known) return [`${provider.name} is new.`]
    return [
      ...(known.state === provider.state ? [] : [`${provider.name} is ${provider.state}.`]),
      ...breakerChanges(provider.name, known.live?.breaker ?? {}, provider.live?.breaker ?? {}),
    ]
  })
}

function breakerChanges(name, old, now) {
  const operations = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  return operations
    .filter((operation) => old[operation] !== now[operation])
    .map((operation) => `The breaker of ${name} for ${operation} is ${now[operation] ?? 'closed'}.`)
}

function createChanges({ unresolved: old }, now) {
  if (!old || !now) return []
  const added = now.filter(({ intent }) => !old.some((known) => known.intent === intent)).length
  return added === 0 ? [] : [`${added === 1 ? 'A create needs' : `${added} creates need`} a person.`]
}
