/** A place in a line; it knows what stands there until it is left. */
export interface QueueEntry<T> {
  readonly value: T
}

interface Link<T> extends QueueEntry<T> {
  previous: Link<T> | undefined
  next: Link<T> | undefined
}

/**
 * First come, first served; anybody may leave. Whoever left is linked to nobody: a `Set` that comes and goes leaves dead
 * tables behind, each of which points to the next and keeps all that it held alive until the whole heap is collected.
 */
export class LinkedQueue<T> {
  private head: Link<T> | undefined
  private tail: Link<T> | undefined
  private count = 0

  get size(): number {
    return this.count
  }

  get first(): T | undefined {
    return this.head?.value
  }

  push(value: T): QueueEntry<T> {
    const link: Link<T> = { value, previous: this.tail, next: undefined }
    if (this.tail) this.tail.next = link
    else this.head = link
    this.tail = link
    this.count++
    return link
  }

  shift(): T | undefined {
    const { head } = this
    if (!head) return undefined
    this.remove(head)
    return head.value
  }

  /** Only whoever stands in this line may leave it, once. */
  remove(entry: QueueEntry<T>): void {
    const link = entry as Link<T>
    const { previous, next } = link
    if (previous) previous.next = next
    else this.head = next
    if (next) next.previous = previous
    else this.tail = previous
    link.previous = undefined
    link.next = undefined
    this.count--
  }
}
