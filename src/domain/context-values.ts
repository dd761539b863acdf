/** What two parts share through the context of a call, and no part between them reads. */

/** Names a value of a context. It is declared where the value is read, so that only who imports it can set it. */
export class ContextKey<Value> {
  /** Of a context without the value. */
  readonly initial: Value

  constructor(initial: Value) {
    this.initial = initial
  }
}

/** The values of a context, the newest first. */
export interface ContextValues {
  readonly key: ContextKey<unknown>
  readonly value: unknown
  readonly older: ContextValues | undefined
}

interface WithValues {
  readonly values?: ContextValues | undefined
}

export function valueIn<Value>({ values }: WithValues, key: ContextKey<Value>): Value {
  for (let entry = values; entry; entry = entry.older) if (entry.key === key) return entry.value as Value
  return key.initial
}

/** A copy of the context, for the call that follows. */
export function withValue<Value, Of extends WithValues>(context: Of, key: ContextKey<Value>, value: NoInfer<Value>): Of {
  return { ...context, values: { key, value, older: context.values } }
}
