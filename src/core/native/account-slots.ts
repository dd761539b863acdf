/** Bounds the concurrent calls of one account, so that no account takes all slots. */
export class AccountSlots {
  private readonly max: number
  private readonly taken = new Map<string, number>()

  constructor(max: number) {
    this.max = max
  }

  /** False if the account has reached its maximum. */
  take(account: string): boolean {
    const count = this.taken.get(account) ?? 0
    if (count >= this.max) return false
    this.taken.set(account, count + 1)
    return true
  }

  release(account: string): void {
    const left = (this.taken.get(account) ?? 1) - 1
    if (left > 0) this.taken.set(account, left)
    else this.taken.delete(account)
  }
}
