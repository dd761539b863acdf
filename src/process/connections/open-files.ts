/** How many files and sockets this process may have open; undefined if the system does not report it. */
export function openFilesLimit(): number | undefined {
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } }
  }
  const soft = Number(userLimits?.open_files?.soft)
  return Number.isSafeInteger(soft) ? soft : undefined
}

/** Of the open files, a port's connections take at most this share: the others are for providers, stores and the process itself. */
const shares = { public: 1 / 2, admin: 1 / 8 }

/** The wanted number of connections of a port, but at most its share of the open files. */
export function maxConnections(port: keyof typeof shares, wanted: number, openFiles = openFilesLimit()): number {
  return openFiles === undefined ? wanted : Math.max(1, Math.min(wanted, Math.floor(openFiles * shares[port])))
}
