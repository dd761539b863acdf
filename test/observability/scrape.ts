/** What Prometheus reads of `/metrics`, in the classic format. */

export interface Line {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const sample = /^([a-z_:]+)(?:\{(.*)\})? (\S+)$/
const label = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g

export class Scrape {
  readonly text: string
  readonly lines: readonly Line[]

  constructor(text: string) {
    this.text = text
    this.lines = text.split('\n').flatMap((line) => {
      const [, name = '', labels = '', value] = sample.exec(line) ?? []
      if (name === '') return []
      const pairs = [...labels.matchAll(label)].map(([, key = '', labelValue = '']) => [key, labelValue])
      return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
    })
  }

  /** Of all lines of that name that have these labels; 0 where there is none. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.find(name, labels).reduce((total, { value }) => total + value, 0)
  }

  /** The sums by the value of one label, but for those that are 0. */
  by(name: string, key: string, labels: Readonly<Record<string, string>> = {}): Readonly<Record<string, number>> {
    const sums: Record<string, number> = {}
    for (const line of this.find(name, labels)) {
      const word = line.labels[key] ?? ''
      if (line.value !== 0) sums[word] = (sums[word] ?? 0) + line.value
    }
    return sums
  }

  /** Name and labels of every line that the gateway itself makes. */
  get series(): readonly string[] {
    const own = this.lines.filter(({ name }) => /^(?:swapgate|http)_/.test(name))
    return own.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`).toSorted()
  }

  private find(name: string, labels: Readonly<Record<string, string>>): readonly Line[] {
    const wanted = Object.entries(labels)
    return this.lines.filter((line) => line.name === name && wanted.every(([key, value]) => line.labels[key] === value))
  }
}
