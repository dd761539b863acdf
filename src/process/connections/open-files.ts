/** How many files and sockets this process may have open; undefined if the system does not report it. */
export function openFilesLimit(): number | undefined {
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } }
  }
  const soft = Number(userLimits?.open_files?.soft)
  return Number.isSafeInteger(soft) ? soft : undefined
}

/** The requested number of connections, but at most half of the open files: the other half is for providers and stores. */
export function maxConnections(wanted: number, openFiles = openFilesLimit()): number {
  return openFiles === undefined ? wanted : Math.max(1, Math.min(wanted, Math.floor(openFiles / 2)))
}
