interface TypedField {
  readonly name: string
  readonly text: string
  /** `path`, `query`, `body` or `header`. */
  readonly place: string
  /** What JSON has for it. */
  readonly kind: string
}

interface TypedRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | undefined
  /** The response is read as it comes. */
  readonly isStream: boolean
}

export function bodyOf(fields: readonly TypedField[]): string
export function targetOf(pattern: string, fields: readonly TypedField[]): string
export function samplesOf(request: TypedRequest): Readonly<Record<'curl' | 'typescript' | 'python', string>>
