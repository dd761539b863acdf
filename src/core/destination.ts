/** Where a create is sent: a list that is read elsewhere later does not prove that it made nothing (docs/contract-operators.md §10.5). */
export interface Destination {
  /** Origin and path. */
  readonly url: string
  readonly form: string
  readonly timezone: string
  /** `providers.<name>.account`; null if the file names none. */
  readonly account: string | null
  /** A digest of the gateway's own key; null where clients send theirs. */
  readonly key: string | null
  /** The same of the key that lists transactions; absent in rows of older versions. */
  readonly listKey?: string | null
}

/**
 * Whether two creates may have gone to one account, by what was configured when they were sent: the tags may have got other accounts
 * since, or be gone. One key under two names of accounts is one account.
 */
export function mayBeOneAccount(one: Destination | undefined, other: Destination | undefined): boolean {
  if (one === undefined || other === undefined) return false
  if (one.url === other.url || (one.account !== null && one.account === other.account)) return true
  return one.key !== null && one.key === other.key && (one.account !== null || other.account !== null)
}

/** What differs. Another key of the account that both name is no difference. */
export function differences(before: Destination, after: Destination): readonly (keyof Destination)[] {
  const isNamed = before.account !== null && after.account !== null
  const isSameAccount = isNamed && before.account === after.account
  const isSame: Readonly<Record<keyof Destination, boolean>> = {
    url: before.url === after.url,
    form: before.form === after.form,
    timezone: before.timezone === after.timezone,
    account: !isNamed || before.account === after.account,
    key: before.key === after.key || isSameAccount,
    listKey: before.listKey === undefined || before.listKey === after.listKey || isSameAccount || before.key !== after.key,
  }
  return (['url', 'form', 'timezone', 'account', 'key', 'listKey'] as const).filter((part) => !isSame[part])
}
