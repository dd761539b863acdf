/** Describes what has changed between two reports, for screen readers. */

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
      ...suspensionChanges(provider.name, known.suspended, provider.suspended),
    ]
  })
}

function breakerChanges(name, old, now) {
  const operations = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  return operations
    .filter((operation) => old[operation] !== now[operation])
    .map((operation) => `The breaker of ${name} for ${operation} is ${now[operation] ?? 'closed'}.`)
}

function suspensionChanges(name, old, now) {
  const without = (assets, others) => assets.filter(({ asset }) => !others.some((other) => other.asset === asset))
  return [
    ...without(now, old).map(({ asset }) => `${asset} is suspended at ${name}.`),
    ...without(old, now).map(({ asset }) => `${asset} is offered at ${name} again.`),
  ]
}

/** Only of one page: the rows of another one are not new. */
function createChanges({ unresolved: before }, now) {
  if (!before || before.path !== now?.path) return []
  const known = new Set(before.rows.map(keyOf))
  const added = now.rows.filter((row) => !known.has(keyOf(row)))
  const isAttention = ({ state }) => state === 'attention'
  return [
    ...needing(added.filter((row) => !isAttention(row)).length, 'create'),
    ...needing(added.filter(isAttention).length, 'transaction'),
  ]
}

function keyOf({ intent, id }) {
  return intent ?? id
}

function needing(count, what) {
  return count === 0 ? [] : [`${count === 1 ? `A ${what} needs` : `${count} ${what}s need`} a person.`]
}
