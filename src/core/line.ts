/** A place in a line; it knows what stands there until it is left. */
export interface Place<T> {
  readonly value: T
}

interface Link<T> extends Place<T> {
  before: Link<T> | undefined
  after: Link<T> | undefined
}

/**
 * First come, first served; anybody may leave. Whoever left is linked to nobody: a `Set` that comes and goes leaves dead
 * tables behind, each of which points to the next and keeps all that it held alive until the whole heap is collected.
 */
export class Line<T> {
  private head: Link<T> | undefined
  private tail: Link<T> | undefined
  private count = 0

  get size(): number {
    return this.count
  }

  get first(): T | undefined {
    return this.head?.value
  }

  push(value: T): Place<T> {
    const link: Link<T> = { value, before: this.tail, after: undefined }
    if (this.tail) this.tail.after = link
    else this.head = link
    this.tail = link
    this.count++
    return link
  }

  shift(): T | undefined {
    const { head } = this
    if (!head) return undefined
    this.leave(head)
    return head.value
  }

  /** Only whoever stands in this line may leave it, once. */
  leave(place: Place<T>): void {
    const link = place as Link<T>
    const { before, after } = link
    if (before) before.after = after
    else this.head = after
    if (after) after.before = before
    else this.tail = before
    link.before = undefined
    link.after = undefined
    this.count--
  }
}
