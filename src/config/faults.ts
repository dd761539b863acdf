import { publicName } from './public-name.ts'

export interface ConfigFault {
  /** Like `providers.alpha.url`; empty for the file as a whole. A name that may be a secret is replaced by its length. */
  readonly path: string
  /** Never contains a value from the file: it may be a secret. */
  readonly message: string
}

export type Path = readonly PropertyKey[]

/** More are not read by anybody, and take long to print. */
const maxFaults = 100

/** Collects the first fault of each path, of 100 paths: a missing value is not also reported as malformed. */
export class Faults {
  private readonly byPath: Map<string, ConfigFault>
  private readonly root: Path

  constructor(root: Path = [], byPath = new Map<string, ConfigFault>()) {
    this.root = root
    this.byPath = byPath
  }

  add(path: Path, message: string): void {
    if (this.byPath.size >= maxFaults) return
    const names = [...this.root, ...path].map(String)
    const full = JSON.stringify(names)
    if (!this.byPath.has(full)) this.byPath.set(full, { path: names.map(publicName).join('.'), message })
  }

  /** Returns a view of the same collection that adds `path` in front of every path. */
  under(...path: Path): Faults {
    return new Faults([...this.root, ...path], this.byPath)
  }

  get all(): readonly ConfigFault[] {
    return [...this.byPath.values()]
  }
}
