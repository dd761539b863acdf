/** Lists of transactions by their ids. */
import type { ReceivedResponse } from './client.ts'

export function idsOf({ json }: ReceivedResponse): readonly string[] {
  return (json as { data: { id: string }[] }).data.map(({ id }) => id)
}

export function tagged(ids: readonly string[]): readonly string[] {
  return ids.map((id) => `alpha~${id}`)
}

export function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `tx-${at}`)
}
