/** A share of 1 in percent, with its sign; `-` where it is not known. */
export function formatPercent(share: number | null): string {
  if (share === null) return '-'
  const percent = (share * 100).toFixed(3)
  return `${Number(percent) > 0 ? '+' : ''}${percent} %`
}
