/** An entry of a queue, for `remove`. */
export interface QueueEntry<T> {
  readonly value: T
}

interface Link<T> extends QueueEntry<T> {
  previous: Link<T> | undefined
  next: Link<T> | undefined
}

/**
 * A FIFO queue with removal from any place. A `Set` is not used: one that grows and shrinks leaves dead tables behind, each of
 * which points to the next and keeps its old contents alive until a full garbage collection.
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

  /** Removes an entry. It must be in this queue, and may be removed only once. */
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
